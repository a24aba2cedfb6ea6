"""Where two engines first differ."""

from __future__ import annotations

import math
from dataclasses import dataclass

from attncli.ladder.engine import Entry, Part, Stop

LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class Difference:
    """The part of the day and the place in it where an engine is not what it should be; `stopped` where it ended."""

    part: str
    place: str = ""
    number: int = 0
    stopped: Stop | None = None


def difference(truth: Part, seen: Part) -> Difference | None:
    """The first place where `seen` differs from what the references do, None where it is right."""
    if seen.stopped is not None:
        return Difference(seen.name, stopped=seen.stopped)
    for due, found in zip(truth.entries, seen.entries, strict=False):
        if not agree(due, found):
            return Difference(truth.name, due.place, due.number)
    if len(truth.entries) != len(seen.entries):
        last = truth.entries[min(len(seen.entries), len(truth.entries) - 1)]
        return Difference(truth.name, last.place, last.number)
    return None


def agree(due: Entry, found: Entry) -> bool:
    """Whether the same was seen at the same place, numbers within the tolerance of `due`."""
    if (due.place, due.number, due.facts) != (found.place, found.number, found.facts):
        return False
    if len(due.values) != len(found.values):
        return False
    largest = max((abs(value) for value in due.values if math.isfinite(value)), default=0.0)
    room = due.tolerance * largest + LEAST
    return all(_close(a, b, room) for a, b in zip(due.values, found.values, strict=True))


def _close(due: float, found: float, room: float) -> bool:
    if math.isfinite(due):
        return abs(due - found) <= room
    return due == found or (math.isnan(due) and math.isnan(found))
