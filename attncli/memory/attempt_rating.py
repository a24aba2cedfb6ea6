"""What the attempts at a challenge say about how well it is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from attncli.domain.challenge import Standing
from attncli.domain.log_row import LogRow, RowKind
from attncli.domain.rating import Rating
from attncli.domain.schedule import Schedule
from attncli.memory.replay import in_force, standing

if TYPE_CHECKING:
    from attncli.memory.scheduler import Scheduler

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
