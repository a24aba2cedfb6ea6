"""The rows of the append-only log. The log is the truth; every schedule is derived from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, cast

from attncli.domain.rating import Rating
from attncli.domain.rungs import Rung

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


class RowKind(StrEnum):
    """What a log row records."""

    REVIEW = "review"
    UNDO = "undo"
    SUSPEND = "suspend"
    UNSUSPEND = "unsuspend"
    BURY = "bury"
    START = "start"
    ATTEMPT = "attempt"
    REPAIR = "repair"
    HINT = "hint"
    SOLUTION = "solution"
    FIT = "fit"
    TAG = "tag"
    NOTE = "note"
    MOCK = "mock"
    MOCK_CLOCK = "mock-clock"


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
        named = self._told("ahead")
        return frozenset(id for id in named if isinstance(id, str)) if isinstance(named, list) else frozenset()

    @property
    def rating(self) -> Rating:
        """The rating of a review that `is_usable_review`."""
        return Rating(self.payload["rating"])

    @property
    def is_usable_review(self) -> bool:
        """Whether this is a review with a rating; one without counts as absent."""
        rating = self._told("rating")
        return self.kind is RowKind.REVIEW and type(rating) is int and 1 <= rating <= 4

    @property
    def is_usable(self) -> bool:
        """Whether this row says what rows of its kind are read for; one that does not counts as absent."""
        match self.kind:
            case RowKind.REVIEW:
                return self.is_usable_review
            case RowKind.ATTEMPT:
                return self.verdict != ""
            case RowKind.REPAIR:
                return self.works_on != ""
            case RowKind.UNDO:
                return self.takes_back != ""
        return True

    @property
    def takes_back(self) -> str:
        """The row that this undo takes back; empty where there is none."""
        row = self._told("row") if self.kind is RowKind.UNDO else None
        return row if isinstance(row, str) else ""

    @property
    def verdict(self) -> str:
        """`accepted` or `rejected` for an attempt; empty for anything else, which counts as absent."""
        verdict = self._told("verdict") if self.kind is RowKind.ATTEMPT else None
        return verdict if verdict in ("accepted", "rejected") else ""

    @property
    def reached(self) -> Rung:
        """The rung that an attempt reached; before there were two, what was accepted was right on both."""
        told = self._told("rung") if self.verdict else "none"
        if told in ("none", "solved", "hardened"):
            return cast(Rung, told)
        return "hardened" if self.verdict == "accepted" else "none"

    @property
    def text_hash(self) -> str:
        """Equal for two attempts with the same text; where none was kept, no two are equal."""
        hashed = self._told("sha256")
        return hashed if isinstance(hashed, str) else self.id

    @property
    def source(self) -> str:
        """The text of an attempt; empty where none was kept."""
        source = self._told("source")
        return source if isinstance(source, str) else ""

    @property
    def bug(self) -> str:
        """The planted bug that a start handed out; empty for a starter and for anything else."""
        bug = self._told("bug") if self.kind is RowKind.START else None
        return bug if isinstance(bug, str) else ""

    @property
    def repairs(self) -> tuple[str, ...]:
        """The bugs that a start planted together; none for a starter and for anything else."""
        named = self._told("repairs") if self.kind is RowKind.START else None
        return tuple(name for name in named if isinstance(name, str)) if isinstance(named, list) else ()

    @property
    def is_planted(self) -> bool:
        """Whether this is a start that handed out something to debug."""
        return self.bug != "" or self.repairs != ()

    @property
    def works_on(self) -> str:
        """The start whose planted bugs this grading was about; empty where there is none."""
        start = self._told("start") if self.kind is RowKind.REPAIR else None
        return start if isinstance(start, str) else ""

    @property
    def fixes(self) -> str:
        """The start whose planted bugs are all repaired by this; empty where some are left."""
        return self.works_on if self._told("verdict") == "accepted" else ""

    def _told(self, key: str) -> Any:
        return self.payload.get(key) if isinstance(self.payload, dict) else None
