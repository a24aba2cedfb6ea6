"""Mistakes that can be planted in a reference together, in place of some of its lines; which of them a round draws."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from textwrap import dedent, indent

REPAIRS = "repairs.yaml"
MOST_BUGS = 4
LEAST_REPAIRS = 4


@dataclass(frozen=True, slots=True)
class Repair:
    """A mistake to plant: the lines `find` of the reference become `replace`, both without the indentation there.

    `wrong` names the file of `wrong/` that makes the same mistake and says what there is to say about it.
    """

    wrong: str
    find: str
    replace: str

    def document(self) -> dict[str, str]:
        return {"wrong": self.wrong, "find": self.find, "replace": self.replace}


@dataclass(frozen=True, slots=True)
class Span:
    """The lines from `first` up to and without `end`, counted from 0, and what stands before each of them."""

    first: int
    end: int
    indentation: str

    def overlaps(self, other: Span) -> bool:
        return self.first < other.end and other.first < self.end


def spans(source: str, find: str) -> list[Span]:
    """Every place at which the lines `find` stand in `source`."""
    wanted, lines = _lines(find), source.splitlines()
    if not wanted:
        return []
    starts = range(len(lines) - len(wanted) + 1)
    return [span for first in starts if (span := _span(lines, first, wanted)) is not None]


def _span(lines: Sequence[str], first: int, wanted: Sequence[str]) -> Span | None:
    if not lines[first].endswith(wanted[0]):
        return None
    before = lines[first].removesuffix(wanted[0])
    here = lines[first : first + len(wanted)]
    if before.strip() or any(line != before + due and (line or due) for line, due in zip(here, wanted, strict=True)):
        return None
    return Span(first, first + len(wanted), before)


def planted(source: str, repairs: Iterable[Repair]) -> str:
    """`source` with these mistakes in it. Raises ValueError where one of them has not exactly one place."""
    lines = source.splitlines()
    for span, repair in sorted(((_only(source, repair), repair) for repair in repairs), key=lambda at: -at[0].first):
        lines[span.first : span.end] = indent("\n".join(_lines(repair.replace)), span.indentation).splitlines()
    return "\n".join(lines) + "\n"


def _only(source: str, repair: Repair) -> Span:
    found = spans(source, repair.find)
    if len(found) != 1:
        raise ValueError(f"the lines of {repair.wrong} stand at {len(found)} places of the reference")
    return found[0]


def _lines(text: str) -> list[str]:
    return dedent(text).strip("\n").splitlines()


def drawn(challenge: str, repairs: Sequence[Repair], count: int, number: int) -> tuple[Repair, ...]:
    """The round of a number: `count` of the mistakes in an order of the challenge's own, each choice in its turn."""
    rounds = list(combinations(repairs, count))
    Random(f"{challenge}:{count}").shuffle(rounds)
    return rounds[number % len(rounds)]


def choices(repairs: Sequence[Repair], most: int = MOST_BUGS) -> Iterator[tuple[Repair, ...]]:
    """Every choice of up to so many of the mistakes, the empty one first."""
    for count in range(min(most, len(repairs)) + 1):
        yield from combinations(repairs, count)
