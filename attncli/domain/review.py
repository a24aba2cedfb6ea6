"""The rows of the append-only log. The log is the truth; every schedule is derived from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from attncli.domain.rating import Rating


class RowKind(StrEnum):
    """What a log row records."""

    REVIEW = "review"
    UNDO = "undo"
    SUSPEND = "suspend"
    UNSUSPEND = "unsuspend"
    BURY = "bury"
    START = "start"
    ATTEMPT = "attempt"
    HINT = "hint"
    SOLUTION = "solution"
    FIT = "fit"
    TAG = "tag"


@dataclass(frozen=True, slots=True)
class LogRow:
    """One row: `id` is unique over all machines, `subject` is a card or challenge id, `at` is UTC.

    `day` is the learner's study day (proleptic ordinal) at that moment, so that a replay elsewhere, in another time
    zone, gives the same schedule. `payload` is JSON: for a review `{"rating": 1…4, ...}`, for an undo `{"row": id}`.
    `ahead` in it names rows that were stamped later than the clock said when this one was written.
    """

    id: str
    machine: str
    kind: RowKind
    subject: str
    at: datetime
    day: int
    payload: dict[str, Any] = field(default_factory=dict)

    @property
    def ahead(self) -> frozenset[str]:
        """The rows whose stamps were found to lie in the future."""
        named = self.payload.get("ahead")
        return frozenset(id for id in named if isinstance(id, str)) if isinstance(named, list) else frozenset()

    @property
    def rating(self) -> Rating:
        return Rating(self.payload["rating"])
