"""How well a card was remembered."""

from __future__ import annotations

from enum import IntEnum


class Rating(IntEnum):
    """The four FSRS ratings, with FSRS's numbers."""

    AGAIN = 1
    HARD = 2
    GOOD = 3
    EASY = 4

    @property
    def word(self) -> str:
        return self.name.lower()

    @staticmethod
    def of(word: str) -> Rating:
        return Rating[word.upper()]
