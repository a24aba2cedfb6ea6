"""Read and write Anki decks, with their schedules and review history."""
