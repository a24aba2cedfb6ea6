"""To Anki and from it."""
