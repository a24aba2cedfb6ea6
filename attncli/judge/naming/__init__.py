"""The name of a mistake: a known wrong solution, two of them, or what wrong answers have in common."""
