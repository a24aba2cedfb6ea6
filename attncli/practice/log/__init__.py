"""What is done becomes a row: written, taken back, merged with other machines' rows, and fitted."""
