"""Schedules, holds, annotations and ratings as folds over log rows.

Every machine replays the rows in the same order (time, then id) and gets the same result. Rows that were undone, and
rows that lack a field of their kind, count as absent.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from attncli.domain.log_row import LogRow, Rating, RowKind, Schedule, fitted
from attncli.domain.vocabulary import Standing
from attncli.memory.scheduler import LEECH_LAPSES, Scheduler

HOLDS = frozenset({RowKind.SUSPEND, RowKind.BURY, RowKind.UNSUSPEND})
ANNOTATIONS = frozenset({RowKind.TAG, RowKind.NOTE})
CHALLENGE_ROWS = frozenset({RowKind.START, RowKind.HINT, RowKind.SOLUTION, RowKind.ATTEMPT})
FLAG = "flag"
"""The tag of a flagged card."""
EASY_WITHIN = timedelta(minutes=20)
REJECTIONS_STILL_GOOD = 2
HARDENING_DAYS = 7


def in_order(rows: Iterable[LogRow]) -> list[LogRow]:
    """Sort rows by time, then id."""
    return sorted(rows, key=lambda row: (row.at, row.id))


def standing(rows: Iterable[LogRow]) -> list[LogRow]:
    """Return the rows that were not undone, in order, without the undos themselves."""
    rows = list(rows)
    undone = {row.takes_back for row in rows if row.kind is RowKind.UNDO}
    return in_order(row for row in rows if row.kind is not RowKind.UNDO and row.id not in undone)


def standing_reviews(rows: Iterable[LogRow]) -> list[LogRow]:
    """Return the reviews that count, in order."""
    return [row for row in standing(rows) if row.is_usable_review]


class FitInForce(NamedTuple):
    """The row, study day and weights of a fit; no weights mean the published ones."""

    id: str = ""
    day: int = 0
    weights: tuple[float, ...] = ()


def fit_in_force(fits: Iterable[LogRow]) -> FitInForce:
    """Return the last of some fits that FSRS can use."""
    for row in reversed(in_order(fits)):
        with suppress(ValueError):
            return FitInForce(row.id, row.day, fitted(row.payload))
    return FitInForce()


def fold_reviews(scheduler: Scheduler, rows: Iterable[LogRow]) -> Schedule | None:
    """Fold the rows of one card into its schedule; None if it has no review.

    The rows of a renamed card keep the id under which they were written; it also seeds their fuzz.
    """
    schedule: Schedule | None = None
    for row in standing_reviews(rows):
        schedule = scheduler.review(row.subject, schedule, row.rating, row.at, row.day)
    return schedule


@dataclass(frozen=True, slots=True)
class Hold:
    """The hold of a card: suspended until unsuspended, or buried on study day `buried_day` (0: on none)."""

    suspended: bool = False
    buried_day: int = 0


def fold_hold(rows: Iterable[LogRow]) -> Hold:
    """Fold the rows of one card into its hold; the last row counts, and unsuspending lifts a bury too."""
    hold = Hold()
    for row in standing(rows):
        if row.kind is RowKind.SUSPEND:
            hold = Hold(True, hold.buried_day)
        elif row.kind is RowKind.BURY:
            hold = Hold(hold.suspended, row.day)
        elif row.kind is RowKind.UNSUSPEND:
            hold = Hold()
    return hold


def is_leech(schedule: Schedule) -> bool:
    """Return True if a card was forgotten so often that it should be split, or its prerequisites learned first."""
    return schedule.lapses >= LEECH_LAPSES


@dataclass(frozen=True, slots=True)
class Annotation:
    """A learner's tags on a card, in the order in which they were added, and the note, empty for none."""

    tags: tuple[str, ...] = ()
    note: str = ""

    @property
    def flagged(self) -> bool:
        return FLAG in self.tags


def fold_annotation(rows: Iterable[LogRow]) -> Annotation:
    """Fold the rows of one card into its annotation: the last row of each tag and the last note count."""
    tags, note = dict[str, None](), ""
    for row in standing(rows):
        payload = row.payload if isinstance(row.payload, dict) else {}
        tag, text = payload.get("tag"), payload.get("text")
        if row.kind is RowKind.NOTE and isinstance(text, str):
            note = text
        elif row.kind is RowKind.TAG and isinstance(tag, str) and tag:
            tags.pop(tag, None)
            if payload.get("on") is not False:
                tags[tag] = None
    return Annotation(tuple(tags), note)


@dataclass(slots=True)
class _Episode:
    """The events since the challenge was last solved."""

    started_at: datetime | None = None
    rejected: int = 0
    hints: int = 0
    solution_day: int | None = None

    def rating(self, solved: LogRow, first: bool) -> Rating:
        """Rate a solve. Solution read that day: again; hints or many rejections: hard; fast, alone, at once: easy."""
        if self.solution_day == solved.day:
            return Rating.AGAIN
        read_before_solving = first and self.solution_day is not None
        if self.hints or self.rejected > REJECTIONS_STILL_GOOD or read_before_solving:
            return Rating.HARD
        quick = self.started_at is not None and solved.at - self.started_at <= EASY_WITHIN
        return Rating.EASY if quick and not self.rejected else Rating.GOOD


def solved_reviews(rows: Iterable[LogRow]) -> list[tuple[LogRow, Rating]]:
    """Return the accepted attempts that count as a review, each with the rating that its evidence gives.

    Attempts that show nothing new do not count: a text accepted before (unless the challenge was started again in
    between), a second acceptance on one study day, and hardening within a week of solving.
    """
    reviews: list[tuple[LogRow, Rating]] = []
    episode = _Episode()
    accepted_texts: set[str] = set()
    for row in (row for row in standing(rows) if row.kind in CHALLENGE_ROWS):
        if row.is_planted:
            continue
        if row.kind is RowKind.START:
            episode.started_at = row.at
            accepted_texts.clear()
        elif row.kind is RowKind.HINT:
            episode.hints += 1
        elif row.kind is RowKind.SOLUTION:
            episode.solution_day = row.day
        elif row.verdict and row.reached == "none":
            episode.rejected += 1
        elif row.verdict:
            text = row.text_hash
            if text not in accepted_texts and not (reviews and _continues(reviews[-1][0], row)):
                reviews.append((row, episode.rating(row, first=not reviews)))
            accepted_texts.add(text)
            episode = _Episode()
    return reviews


def _continues(reviewed: LogRow, row: LogRow) -> bool:
    """Return True if the accepted attempt `row` continues the work of the last review."""
    hardens = reviewed.reached == "solved" and row.reached == "hardened"
    return row.day == reviewed.day or (hardens and row.day - reviewed.day <= HARDENING_DAYS)


def fold_attempts(scheduler: Scheduler, rows: Iterable[LogRow]) -> Schedule | None:
    """Fold the rows of one challenge into its schedule; None while it is unsolved."""
    schedule: Schedule | None = None
    for row, rating in solved_reviews(rows):
        schedule = scheduler.review(row.subject, schedule, rating, row.at, row.day)
    return schedule


def standing_of(rows: Iterable[LogRow]) -> Standing:
    """Return the highest rung that was reached, else tried or new."""
    reached = {row.reached for row in standing(rows) if row.verdict}
    if not reached:
        return "new"
    return "hardened" if "hardened" in reached else "solved" if "solved" in reached else "tried"


def fixed_of(rows: Iterable[LogRow]) -> int:
    """Count the handed-out files in which all planted bugs were repaired."""
    return len({row.fixes for row in standing(rows) if row.fixes})
