"""Schedules and holds as folds over log rows."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from attncli.domain.challenge import Standing
from attncli.domain.log_row import LogRow, Rating, RowKind, Schedule
from attncli.memory.scheduler import LEECH_LAPSES

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
        from attncli.domain.log_row import fitted

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


# What a learner wrote on a card, tags and a note, as a fold over log rows.

FLAG = "flag"
ANNOTATIONS = frozenset({RowKind.TAG, RowKind.NOTE})


@dataclass(frozen=True, slots=True)
class Annotation:
    """Tags in the order in which they were put on; an empty note is none."""

    tags: tuple[str, ...] = ()
    note: str = ""

    @property
    def flagged(self) -> bool:
        return FLAG in self.tags


def fold_annotation(rows: Iterable[LogRow]) -> Annotation:
    """The annotation of the one card whose log `rows` is: the last word on each tag, and the last note.

    A row that does not say what its kind says counts as absent.
    """
    tags, note = dict[str, None](), ""
    for row in in_force(row for row in standing(rows) if row.kind in ANNOTATIONS):
        told = row.payload if isinstance(row.payload, dict) else {}
        tag, text = told.get("tag"), told.get("text")
        if row.kind is RowKind.NOTE and isinstance(text, str):
            note = text
        elif row.kind is RowKind.TAG and isinstance(tag, str) and tag:
            tags.pop(tag, None)
            if told.get("on") is not False:
                tags[tag] = None
    return Annotation(tuple(tags), note)


# What the attempts at a challenge say about how well it is known.

CHALLENGE_ROWS = frozenset({RowKind.START, RowKind.HINT, RowKind.SOLUTION, RowKind.ATTEMPT})
EASY_WITHIN = timedelta(minutes=20)
REJECTIONS_STILL_GOOD = 2
HARDENING_DAYS = 7


@dataclass(slots=True)
class _Episode:
    """What happened since the challenge was last solved."""

    started_at: datetime | None = None
    rejected: int = 0
    hints: int = 0
    solution_day: int | None = None

    def rating(self, solved: LogRow, first: bool) -> Rating:
        """Solution seen that day: again. Helped or often rejected: hard. At once, alone and quickly: easy."""
        if self.solution_day == solved.day:
            return Rating.AGAIN
        read_before_solving = first and self.solution_day is not None
        if self.hints or self.rejected > REJECTIONS_STILL_GOOD or read_before_solving:
            return Rating.HARD
        quick = self.started_at is not None and solved.at - self.started_at <= EASY_WITHIN
        return Rating.EASY if quick and not self.rejected else Rating.GOOD


def solved_reviews(rows: Iterable[LogRow]) -> list[tuple[LogRow, Rating]]:
    """The accepted attempts that count as a review, with the rating that their evidence gives.

    Grading the text that was accepted before shows nothing new, and neither does a second acceptance on one study
    day: they are left out, the former unless the challenge was started afresh in between. To harden what was solved
    within a week is the same work going on, and no review of its own.
    """
    reviews: list[tuple[LogRow, Rating]] = []
    episode = _Episode()
    accepted_texts: set[str] = set()
    for row in in_force(row for row in standing(rows) if row.kind in CHALLENGE_ROWS):
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
            if text not in accepted_texts and not (reviews and _goes_on(reviews[-1][0], row)):
                reviews.append((row, episode.rating(row, first=not reviews)))
            accepted_texts.add(text)
            episode = _Episode()
    return reviews


def _goes_on(reviewed: LogRow, row: LogRow) -> bool:
    """Whether solving `row` belongs to the work that ended in the last review."""
    hardens = reviewed.reached == "solved" and row.reached == "hardened"
    return row.day == reviewed.day or (hardens and row.day - reviewed.day <= HARDENING_DAYS)


def fold_attempts(scheduler: Scheduler, rows: Iterable[LogRow]) -> Schedule | None:
    """The schedule of the one challenge whose log `rows` is; None while it is unsolved."""
    schedule: Schedule | None = None
    for row, rating in solved_reviews(rows):
        schedule = scheduler.review(row.subject, schedule, rating, row.at, row.day)
    return schedule


def standing_of(rows: Iterable[LogRow]) -> Standing:
    """The highest rung that was reached; without one tried, or new."""
    reached = {row.reached for row in standing(rows) if row.verdict}
    if not reached:
        return "new"
    return "hardened" if "hardened" in reached else "solved" if "solved" in reached else "tried"


def fixed_of(rows: Iterable[LogRow]) -> int:
    """In how many of the files that were handed out with bugs these were all repaired."""
    return len({row.fixes for row in standing(rows) if row.fixes})
