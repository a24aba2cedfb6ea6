"""Columns of a terminal, in which a Chinese character is two cells wide."""

from __future__ import annotations

from unicodedata import east_asian_width


def left(text: str, cells: int) -> str:
    """`text` in at least `cells` cells, aligned left."""
    return text + " " * (cells - _cells(text))


def right(text: str, cells: int) -> str:
    """`text` in at least `cells` cells, aligned right."""
    return " " * (cells - _cells(text)) + text


def _cells(text: str) -> int:
    return sum(2 if east_asian_width(character) in "FW" else 1 for character in text)
