"""What a mock interview came to, for whoever shows it: the room itself, the summary."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from attncli.domain.card import Level
from attncli.domain.mock_interview import PartName
from attncli.domain.text import Localised


@dataclass(frozen=True, slots=True)
class PartScore:
    """`credit` of the `asked` items, each from 0 to 1; `not_asked` were left when the time was up or it was left."""

    name: PartName
    minutes: int
    spent_seconds: int
    credit: float
    asked: int
    not_asked: int
    is_over_time: bool


@dataclass(frozen=True, slots=True)
class MissedItem:
    """What was asked and not wholly answered: the `points` that were not made, or the `answer` where there are none.

    `card` is the card's id, or the challenge's where `is_code`. The texts are empty if it has left the bank.
    """

    card: str
    is_code: bool
    question: Localised
    answer: Localised
    points: tuple[Localised, ...]


@dataclass(frozen=True, slots=True)
class SpokenTimes:
    """Seconds until spoken answers were given, against the 30 that an interviewer listens."""

    median_seconds: int
    within: int
    answers: int
    longest: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class MockReport:
    """One interview. `share` lies in 0…1: the mean of its parts, of which something was asked.

    `read` are the cards to read, the most missed first. Not finished: it goes on, or was ended early.
    """

    id: str
    begun_at: datetime
    minutes: int
    level: Level
    seed: int
    is_finished: bool
    is_open: bool
    share: float
    parts: tuple[PartScore, ...]
    missed: tuple[MissedItem, ...]
    times: SpokenTimes | None
    read: tuple[str, ...]
