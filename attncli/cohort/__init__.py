"""Grade the submissions of a whole class and report on them."""
