"""The schedule of a card or challenge: what is remembered of it, and when it is due."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class State(StrEnum):
    """Where a card stands in FSRS."""

    NEW = "new"
    LEARNING = "learning"
    REVIEW = "review"
    RELEARNING = "relearning"


@dataclass(frozen=True, slots=True)
class Schedule:
    """The derived memory state of one card (or challenge) after its last review.

    `stability_days` is the interval after which recall has fallen to 90 %; `difficulty` lies in 1…10; `step` is the
    learning step while learning or relearning; `due_at` and `reviewed_at` are UTC; `review_day` is the learner's study
    day (ordinal, days roll over at `day_start`) of the last review; `interval_days` is what was scheduled then;
    `introduced_day` is the study day of the first review.
    """

    state: State
    stability_days: float | None
    difficulty: float | None
    step: int | None
    reviewed_at: datetime
    review_day: int
    due_at: datetime
    interval_days: float
    repetitions: int
    lapses: int
    introduced_day: int

    @property
    def due_day(self) -> int:
        """The study day on which a review is due: so many days after its last one, however long those days were."""
        return self.review_day + round(self.interval_days)
