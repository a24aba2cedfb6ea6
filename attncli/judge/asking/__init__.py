"""The questions of an exam, and one submission that is asked them."""
