"""Schedules and the review log as Anki keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from attncli.domain.anki import (
    FIRST_EASE,
    LEAST_EASE,
    AnkiCalendar,
    AnkiReview,
    AnkiSchedule,
    CardType,
    ReviewType,
)
from attncli.domain.log_row import LogRow
from attncli.domain.rating import Rating
from attncli.domain.schedule import Schedule, State
from attncli.memory.replay import standing_reviews

if TYPE_CHECKING:
    from attncli.memory.scheduler import Scheduler
    from attncli.practice.workspace import Workspace

SECONDS_A_DAY = 86_400
LONGEST_ANSWER_IN_ANKI_MS = 60_000
"""What Anki itself counts at most for one answer."""
_EASE_STEPS = {Rating.AGAIN: -200, Rating.HARD: -150, Rating.GOOD: 0, Rating.EASY: 150}
_TYPES = {
    State.NEW: CardType.NEW,
    State.LEARNING: CardType.LEARNING,
    State.REVIEW: CardType.REVIEW,
    State.RELEARNING: CardType.RELEARNING,
}
_REVIEW_TYPES = {
    State.NEW: ReviewType.LEARNING,
    State.LEARNING: ReviewType.LEARNING,
    State.REVIEW: ReviewType.REVIEW,
    State.RELEARNING: ReviewType.RELEARNING,
}


def anki_schedule(workspace: Workspace, card: str) -> AnkiSchedule:
    """Where `card` stands, and its reviews, replayed under the settings that hold now."""
    store = workspace.store
    suspended, _ = store.schedules.hold(card)
    schedule = store.schedules.get(card)
    if schedule is None:
        return AnkiSchedule(type=CardType.NEW, suspended=suspended)
    reviews, ease = replayed(workspace.card_scheduler(card), store.log.of_subjects(store.index.names_of(card)))
    return _standing(workspace, schedule, suspended, reviews, ease)


def _standing(
    workspace: Workspace, schedule: Schedule, suspended: bool, reviews: Sequence[AnkiReview], ease: int
) -> AnkiSchedule:
    policy = workspace.policy
    steps = {State.LEARNING: policy.learning_steps, State.RELEARNING: policy.relearning_steps}.get(schedule.state, ())
    return AnkiSchedule(
        type=_TYPES[schedule.state],
        suspended=suspended,
        due_day=schedule.due_day,
        due_at=schedule.due_at,
        interval_days=max(1, round(schedule.interval_days)) if schedule.state is not State.LEARNING else 0,
        ease=ease,
        repetitions=schedule.repetitions,
        lapses=schedule.lapses,
        steps_left=max(1, len(steps) - (schedule.step or 0)) if steps else 0,
        stability_days=schedule.stability_days,
        difficulty=schedule.difficulty,
        desired_retention=policy.desired_retention,
        decay=policy.decay,
        reviewed_at=schedule.reviewed_at,
        reviews=tuple(reviews),
    )


def replayed(scheduler: Scheduler, rows: Iterable[LogRow]) -> tuple[list[AnkiReview], int]:
    """The standing reviews of one card with the intervals that they led to, and the ease that SM-2 would give it."""
    schedule: Schedule | None = None
    ease, last_interval, reviews = 0, 0, list[AnkiReview]()
    for row in standing_reviews(rows):
        before = schedule.state if schedule else State.NEW
        schedule = scheduler.review(row.subject, schedule, row.rating, row.at, row.day)
        if before is State.REVIEW:
            ease = max(LEAST_EASE, ease + _EASE_STEPS[row.rating])
        elif schedule.state is State.REVIEW:
            ease = ease or FIRST_EASE
        interval = _interval(schedule)
        reviews.append(
            AnkiReview(row.at, int(row.rating), interval, last_interval, ease, _elapsed_ms(row), _REVIEW_TYPES[before])
        )
        last_interval = interval
    return reviews, ease


def _interval(schedule: Schedule) -> int:
    if schedule.state is State.REVIEW:
        return max(1, round(schedule.interval_days))
    return -max(1, round(schedule.interval_days * SECONDS_A_DAY))


def _elapsed_ms(row: LogRow) -> int:
    told = row.payload.get("elapsed_ms")
    return min(max(told, 0), LONGEST_ANSWER_IN_ANKI_MS) if type(told) is int else 0


def anki_calendar(workspace: Workspace, schedules: Iterable[AnkiSchedule]) -> AnkiCalendar:
    """The calendar of a package: it begins on the day of the first review, so that no day has a negative number."""
    calendar, now = workspace.calendar, workspace.clock()
    firsts = [schedule.reviews[0].at for schedule in schedules if schedule.reviews]
    first_day = calendar.day(min([*firsts, now])) - 1
    begins = calendar.starts_at(first_day)
    return AnkiCalendar(first_day, begins, calendar.day_start.hour, _minutes_west(begins, workspace))


def _minutes_west(at: datetime, workspace: Workspace) -> int:
    offset = at.astimezone(UTC).astimezone(workspace.calendar.zone).utcoffset()
    return -round(offset.total_seconds() / 60) if offset else 0
