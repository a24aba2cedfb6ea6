"""The cards and challenges there are, and finding the one that is meant."""
