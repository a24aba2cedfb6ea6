"""Mock interviews: the plan with its timed parts, as stored in the log, and the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal, cast, get_args

from attncli.domain.vocabulary import LEVELS, Level
from attncli.i18n import Localised, _

PartName = Literal["warm-up", "deep-dive", "whiteboard", "tests", "repair"]
ItemKind = Literal["card", "follow-up", "whiteboard", "tests", "repair"]
PARTS: tuple[PartName, ...] = get_args(PartName)
PART_NAMES: dict[PartName, Localised] = {
    "warm-up": _("Warm-up"),
    "deep-dive": _("Deep dive"),
    "whiteboard": _("Whiteboard"),
    "tests": _("Tests"),
    "repair": _("Repair"),
}
CODING: tuple[ItemKind, ...] = ("whiteboard", "tests", "repair")

LEAST_MINUTES, MOST_MINUTES = 10, 120
MOST_ITEMS = 100


@dataclass(frozen=True, slots=True)
class MockItem:
    """One question: a card, its follow-up number `n` (from 0), or a challenge to write, to test or to repair.

    For a repair `n` is the number of bugs planted together; 0 means one whole wrong solution. Tests are written for an
    assistant's draft with `n` bugs, which is repaired afterwards.
    """

    kind: ItemKind
    id: str
    n: int = 0

    @property
    def is_code(self) -> bool:
        return self.kind in CODING


@dataclass(frozen=True, slots=True)
class MockPart:
    """A timed part and its questions."""

    name: PartName
    minutes: int
    items: tuple[MockItem, ...]

    @property
    def budget_ms(self) -> int:
        return self.minutes * 60_000


@dataclass(frozen=True, slots=True)
class MockPlan:
    """A drawn interview; with an `interviewer`, another person sees the points at once and ticks them."""

    minutes: int
    level: Level
    seed: int
    interviewer: bool
    parts: tuple[MockPart, ...]

    @property
    def items(self) -> tuple[MockItem, ...]:
        """All questions in order; the log refers to an item by its place here."""
        return tuple(item for part in self.parts for item in part.items)

    def places(self, part: int) -> range:
        """Return the places of the items of a part."""
        first = sum(len(before.items) for before in self.parts[:part])
        return range(first, first + len(self.parts[part].items))

    def part_of(self, place: int) -> int:
        """Return the index of the part that contains an item."""
        return next(part for part in range(len(self.parts)) if place in self.places(part))


def plan_document(plan: MockPlan) -> dict[str, Any]:
    """Return a plan as JSON for the log."""
    parts = [{**asdict(part), "items": [asdict(item) for item in part.items]} for part in plan.parts]
    return {**asdict(plan), "parts": parts}


def plan_of(document: Mapping[str, Any]) -> MockPlan:
    """Read the plan from a log row. Raises ValueError if it is malformed."""
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


@dataclass(frozen=True, slots=True)
class PartScore:
    """The result of a part: `credit` sums 0…1 for each of the `asked` items; `not_asked` were never reached."""

    name: PartName
    minutes: int
    spent_seconds: int
    credit: float
    asked: int
    not_asked: int
    is_over_time: bool


@dataclass(frozen=True, slots=True)
class MissedItem:
    """A question that was not fully answered: the `points` that were missed, or the `answer` where there are none.

    `card` is the id of the card, or of the challenge where `is_code`. The texts are empty if the bank no longer has it.
    """

    card: str
    is_code: bool
    question: Localised
    answer: Localised
    points: tuple[Localised, ...]


@dataclass(frozen=True, slots=True)
class MockReport:
    """The result of one interview. `share` in 0…1 is the mean over the parts with asked items.

    `answer_seconds` are the times of the answers, sorted; skipped questions have none. `read` are the cards to read,
    the most missed first. An unfinished interview is open, or was ended early.
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
    answer_seconds: tuple[int, ...]
    read: tuple[str, ...]
