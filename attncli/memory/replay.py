"""Schedules and holds as folds over log rows."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from attncli.domain.log_row import LogRow, RowKind
from attncli.domain.schedule import Schedule
from attncli.memory.schedule_policy import LEECH_LAPSES

if TYPE_CHECKING:
    from attncli.memory.scheduler import Scheduler

HOLDS = frozenset({RowKind.SUSPEND, RowKind.BURY, RowKind.UNSUSPEND})


def in_order(rows: Iterable[LogRow]) -> list[LogRow]:
    """Rows by time, then id: the order in which every machine replays them."""
    return sorted(rows, key=lambda row: (row.at, row.id))


def standing(rows: Iterable[LogRow]) -> list[LogRow]:
    """The rows that were not taken back, in order; the undos themselves are left out."""
    rows = list(rows)
    undone = {row.takes_back for row in rows if row.kind is RowKind.UNDO}
    return in_order(row for row in rows if row.kind is not RowKind.UNDO and row.id not in undone)


def in_force(rows: Iterable[LogRow]) -> list[LogRow]:
    """What is folded of ordered standing rows of one sort: all but the last ones, if they came from the future.

    A row from the future is one that a later written row names, because its stamp was more than a day ahead of the
    clock. One of the two clocks was wrong, and nobody knows which. While the named row is the last, it is set aside,
    so that it strands no card in another year; once a row is stamped later than it, its moment is past and it counts.
    """
    kept = list(rows)
    ahead = frozenset[str]().union(*(row.ahead for row in kept))
    while kept and kept[-1].id in ahead:
        kept.pop()
    return kept


def standing_reviews(rows: Iterable[LogRow]) -> list[LogRow]:
    """The reviews that count, in order."""
    return in_force(row for row in standing(rows) if row.is_usable_review)


class FitInForce(NamedTuple):
    """A fit's row, its study day and its weights: none for the published ones."""

    id: str = ""
    day: int = 0
    weights: tuple[float, ...] = ()


def fit_in_force(fits: Iterable[LogRow]) -> FitInForce:
    """The last of these standing fits that FSRS can use."""
    rows = in_force(in_order(fits))
    if rows:
        from attncli.domain.fsrs_weights import fitted

        for row in reversed(rows):
            with suppress(ValueError):
                return FitInForce(row.id, row.day, fitted(row.payload))
    return FitInForce()


def fold_reviews(scheduler: Scheduler, rows: Iterable[LogRow]) -> Schedule | None:
    """The schedule of the one card whose log `rows` is; None if it has no standing review.

    A renamed card's rows carry the id they were written under, which also seeds their fuzz.
    """
    schedule: Schedule | None = None
    for row in standing_reviews(rows):
        schedule = scheduler.review(row.subject, schedule, row.rating, row.at, row.day)
    return schedule


@dataclass(frozen=True, slots=True)
class Hold:
    """Whether a card is kept out of the queue: for good, or on study day `buried_day` (0: on none)."""

    suspended: bool = False
    buried_day: int = 0


def fold_hold(rows: Iterable[LogRow]) -> Hold:
    """The hold of the one card whose log `rows` is; the last word counts, and unsuspending lifts a bury too."""
    hold = Hold()
    for row in in_force(row for row in standing(rows) if row.kind in HOLDS):
        if row.kind is RowKind.SUSPEND:
            hold = Hold(True, hold.buried_day)
        elif row.kind is RowKind.BURY:
            hold = Hold(hold.suspended, row.day)
        elif row.kind is RowKind.UNSUSPEND:
            hold = Hold()
    return hold


def is_leech(schedule: Schedule) -> bool:
    """Forgotten so often that one more repetition is unlikely to help: the card wants splitting or prerequisites."""
    return schedule.lapses >= LEECH_LAPSES
