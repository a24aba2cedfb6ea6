"""Domain types: frozen dataclasses without I/O, clock or randomness."""
