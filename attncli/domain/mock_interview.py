"""A mock interview as it is planned: how long it may be, its timed parts, and what is asked in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast, get_args

from attncli.domain.card import LEVELS, Level
from attncli.domain.text import Localised

PartName = Literal["warm-up", "deep-dive", "whiteboard", "repair"]
ItemKind = Literal["card", "follow-up", "whiteboard", "repair"]
PARTS: tuple[PartName, ...] = get_args(PartName)
CODING: tuple[ItemKind, ...] = ("whiteboard", "repair")

LEAST_MINUTES, MOST_MINUTES = 10, 120
MOST_ITEMS = 100


@dataclass(frozen=True, slots=True)
class MockItem:
    """One thing that is asked: a card, its follow-up number `n` (from 0), or a challenge to write or to repair.

    Of a repair `n` is the number of bugs that are planted together; 0 stands for one whole wrong solution.
    """

    kind: ItemKind
    id: str
    n: int = 0

    @property
    def is_code(self) -> bool:
        return self.kind in CODING


@dataclass(frozen=True, slots=True)
class MockPart:
    """A part with its time and what is asked in it."""

    name: PartName
    minutes: int
    items: tuple[MockItem, ...]

    @property
    def budget_ms(self) -> int:
        return self.minutes * 60_000


@dataclass(frozen=True, slots=True)
class MockPlan:
    """An interview as it was drawn; with an `interviewer`, somebody else sees the points at once and ticks them."""

    minutes: int
    level: Level
    seed: int
    interviewer: bool
    parts: tuple[MockPart, ...]

    @property
    def items(self) -> tuple[MockItem, ...]:
        """Everything that is asked, in order; the log names an item by its place here."""
        return tuple(item for part in self.parts for item in part.items)

    def places(self, part: int) -> range:
        """The places of the items of a part."""
        first = sum(len(before.items) for before in self.parts[:part])
        return range(first, first + len(self.parts[part].items))

    def part_of(self, place: int) -> int:
        """The number of the part in which an item is asked."""
        return next(part for part in range(len(self.parts)) if place in self.places(part))


def plan_document(plan: MockPlan) -> dict[str, Any]:
    """What the log keeps of a plan."""
    return {
        "minutes": plan.minutes,
        "level": plan.level,
        "seed": plan.seed,
        "interviewer": plan.interviewer,
        "parts": [
            {
                "name": part.name,
                "minutes": part.minutes,
                "items": [{"kind": item.kind, "id": item.id, "n": item.n} for item in part.items],
            }
            for part in plan.parts
        ],
    }


def plan_of(document: Mapping[str, Any]) -> MockPlan:
    """The plan that a log row holds. Raises ValueError for what is none."""
    parts = document.get("parts")
    if not isinstance(parts, list) or not 0 < len(parts) <= len(PARTS):
        raise ValueError("not the parts of an interview")
    plan = MockPlan(
        minutes=_whole(document.get("minutes"), MOST_MINUTES),
        level=cast(Level, _one_of(document.get("level"), LEVELS)),
        seed=_whole(document.get("seed"), 2**53),
        interviewer=document.get("interviewer") is True,
        parts=tuple(_part(part) for part in parts),
    )
    if len(plan.items) > MOST_ITEMS or not all(part.items for part in plan.parts):
        raise ValueError(f"a part of an interview without questions, or more than {MOST_ITEMS} of them")
    return plan


def _part(document: Any) -> MockPart:
    items = document.get("items") if isinstance(document, Mapping) else None
    if not isinstance(items, list):
        raise ValueError("no part of an interview")
    name = cast(PartName, _one_of(document.get("name"), PARTS))
    return MockPart(name, _whole(document.get("minutes"), MOST_MINUTES), tuple(_item(item) for item in items))


def _item(document: Any) -> MockItem:
    id = document.get("id") if isinstance(document, Mapping) else None
    if not isinstance(id, str) or not 0 < len(id) <= 200 or not id.isprintable():
        raise ValueError("no question of an interview")
    kind = cast(ItemKind, _one_of(document.get("kind"), get_args(ItemKind)))
    return MockItem(kind, id, _whole(document.get("n", 0), 1000))


def _whole(value: Any, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"not a whole number from 0 to {most}")
    return value


def _one_of(value: Any, known: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"none of {', '.join(known)}")
    return value


# What a mock interview came to, for whoever shows it: the room itself, the summary.


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
