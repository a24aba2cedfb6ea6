"""The nouns: frozen dataclasses without I/O, clock or randomness."""
