"""Anki: decks read and written, with their schedules and review history."""
