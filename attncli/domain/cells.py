"""Columns of a terminal, in which a Chinese character is two cells wide."""

from __future__ import annotations

from unicodedata import east_asian_width

SHADES = "·░▒▓█"
"""From nothing to full, told apart without colour."""


def left(text: str, width: int) -> str:
    """`text` in at least `width` cells, aligned left."""
    return text + " " * (width - cells(text))


def right(text: str, width: int) -> str:
    """`text` in at least `width` cells, aligned right."""
    return " " * (width - cells(text)) + text


def cells(text: str) -> int:
    """How many cells a text takes."""
    return sum(2 if east_asian_width(character) in "FW" else 1 for character in text)
