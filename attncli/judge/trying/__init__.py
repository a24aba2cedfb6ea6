"""A case that the learner types: read without running it, and put to the reference and to their file."""
