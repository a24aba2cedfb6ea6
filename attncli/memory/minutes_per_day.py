"""What fits the minutes of a study day without an interview ahead: reviews first, new cards in what is left.

Loaded by `attn due` only for those who have set `minutes_per_day`: plain arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass

from attncli.memory.time_per_card import LEARN_SECONDS, REVIEW_SECONDS, towards_usual

FIRST_WEEKS_REVIEWS = 3
"""So many reviews a new card brings in its first weeks. Room is kept for them, so that learning it is no debt."""


@dataclass(frozen=True, slots=True)
class Studied:
    """How many cards were learned or reviewed (each counted once a day), and the seconds that they took."""

    cards: int = 0
    seconds: float = 0.0

    def usual(self, prior_seconds: float) -> float:
        """Seconds for one card: the mean, drawn towards `prior_seconds`."""
        return towards_usual(self.seconds, self.cards, prior_seconds)


@dataclass(frozen=True, slots=True)
class DayMinutes:
    """What is left of a day: `seconds_left` may be below zero. The other two are what one card takes this learner."""

    seconds_left: float
    learn_seconds: float
    review_seconds: float

    @staticmethod
    def of(minutes: float, spent_seconds: float, untimed: int, learned: Studied, reviewed: Studied) -> DayMinutes:
        """What is left of `minutes` after `spent_seconds`, and so many reviews and steps whose time is not known."""
        learn, review = learned.usual(LEARN_SECONDS), reviewed.usual(REVIEW_SECONDS)
        return DayMinutes(minutes * 60 - spent_seconds - untimed * review, learn, review)

    @property
    def reviews(self) -> int:
        """How many reviews fit."""
        return max(0, int(self.seconds_left // self.review_seconds))

    def new_beside(self, reviews: int) -> int:
        """How many new cards fit beside so many reviews."""
        left = self.seconds_left - reviews * self.review_seconds
        return max(0, int(left // (self.learn_seconds + FIRST_WEEKS_REVIEWS * self.review_seconds)))
