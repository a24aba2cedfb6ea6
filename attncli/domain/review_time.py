"""The half minute that an answer should take, and how much of the time that a card stood on the screen counts."""

from __future__ import annotations

from collections.abc import Sequence

from attncli.domain.log_row import LogRow

ANSWER_SECONDS = 30
"""So many seconds an interviewer listens before they ask on."""
LONGEST_LOOK_SECONDS = 300
"""What counts of a card that was left open over lunch."""


def seconds_of(reviews: Sequence[LogRow]) -> float | None:
    """The time that reviews took together; None where one was not timed."""
    told = [row.payload.get("elapsed_ms") for row in reviews]
    known = [min(LONGEST_LOOK_SECONDS, ms / 1000) for ms in told if type(ms) is int and ms >= 0]
    return sum(known) if len(known) == len(told) else None
