"""Agree with py-fsrs interval for interval: 5,000 random histories, each under its own policy."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import fsrs
import pytest

from attncli.domain.log_row import HIGHEST_WEIGHTS, LOWEST_WEIGHTS, LogRow, Rating, RowKind, Schedule
from attncli.memory.replay import fold_reviews
from attncli.memory.scheduler import SchedulePolicy, Scheduler, StudyCalendar

from .conftest import policy

HISTORIES, PARTS = 5_000, 10
MOST_REVIEWS = 20
LAST_YEAR = 2190
DAY_MINUTES = 1_440
STEPS_MINUTES = [(1, 10), (10,), (), (1, 10, 60), (DAY_MINUTES, 3 * DAY_MINUTES), (30, 720)]
RELEARNING_MINUTES = [(10,), (), (10, 60), (DAY_MINUTES,)]
CALENDAR = StudyCalendar(zone=UTC)
Review = tuple[datetime, Rating]


def random_policy(draw: random.Random) -> SchedulePolicy:
    """Return any settings that `config.toml` accepts, with the published weights or others."""
    return policy(
        fuzz=False,
        desired_retention=draw.choice([0.7, 0.8, 0.9, 0.95, 0.97, round(draw.uniform(0.7, 0.97), 3)]),
        learning_steps=tuple(timedelta(minutes=step) for step in draw.choice(STEPS_MINUTES)),
        relearning_steps=tuple(timedelta(minutes=step) for step in draw.choice(RELEARNING_MINUTES)),
        maximum_interval_days=draw.choice([36_500, 36_500, 365, 30, 1]),
        parameters=draw.choice([(), near_the_published(draw), anywhere(draw)]),
    )


def near_the_published(draw: random.Random) -> tuple[float, ...]:
    drawn = [weight * draw.uniform(0.6, 1.6) for weight in fsrs.scheduler.DEFAULT_PARAMETERS]
    return tuple(min(max(w, low), high) for w, low, high in zip(drawn, LOWEST_WEIGHTS, HIGHEST_WEIGHTS, strict=True))


def anywhere(draw: random.Random) -> tuple[float, ...]:
    return tuple(draw.uniform(low, high) for low, high in zip(LOWEST_WEIGHTS, HIGHEST_WEIGHTS, strict=True))


def theirs(policy: SchedulePolicy) -> fsrs.Scheduler:
    return fsrs.Scheduler(
        parameters=policy.parameters or fsrs.scheduler.DEFAULT_PARAMETERS,
        desired_retention=policy.desired_retention,
        learning_steps=policy.learning_steps,
        relearning_steps=policy.relearning_steps,
        maximum_interval=policy.maximum_interval_days,
        enable_fuzzing=False,
    )


def reviewed(scheduler: fsrs.Scheduler, draw: random.Random) -> Iterator[tuple[Review, fsrs.Card]]:
    """Yield reviews on the same day, on time, early, late, and years late, with py-fsrs's card after each.

    The time of day never decreases, so the 24-hour spans that py-fsrs counts are study days.
    """
    card = fsrs.Card(card_id=1)
    at = datetime(2022, 11, 29, 4, 0, tzinfo=UTC)
    for _ in range(draw.randint(1, MOST_REVIEWS)):
        wait = max(0, (card.due - at).days) if card.last_review else 0
        late = draw.choice([0, 0, wait, wait, wait + 1, wait // 2, draw.randint(0, 60), wait + draw.randint(0, 2_000)])
        at += timedelta(days=late, seconds=draw.randint(0, 3_600))
        if at.year > LAST_YEAR:
            return
        rating = Rating(draw.choices((1, 2, 3, 4), (2, 1, 4, 1))[0])
        card, _ = scheduler.review_card(card, fsrs.Rating(int(rating)), at)
        yield (at, rating), card


def said(card: fsrs.Card) -> tuple[object, ...]:
    assert card.last_review is not None
    return card.state.name.lower(), card.step, card.stability, card.difficulty, card.due, card.due - card.last_review


def ours(schedule: Schedule) -> tuple[object, ...]:
    interval = schedule.due_at - schedule.reviewed_at
    assert schedule.interval_days == interval / timedelta(days=1)
    return (
        schedule.state.value,
        schedule.step,
        schedule.stability_days,
        schedule.difficulty,
        schedule.due_at,
        interval,
    )


@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=() if part < 3 else pytest.mark.full) for part in range(PARTS)]
)
def test_every_interval_is_the_one_of_py_fsrs(part: int) -> None:
    reviews = 0
    for number in range(part, HISTORIES, PARTS):
        draw = random.Random(number)
        chosen = random_policy(draw)
        scheduler, schedule, rows = Scheduler(chosen), None, list[LogRow]()
        for (at, rating), card in reviewed(theirs(chosen), draw):
            day = CALENDAR.day(at)
            schedule = scheduler.review("card", schedule, rating, at, day)
            assert ours(schedule) == said(card), (number, len(rows))
            row_id = f"{len(rows):012x}"
            rows.append(LogRow(row_id, "m", RowKind.REVIEW, "card", at, day, {"rating": int(rating)}))
        draw.shuffle(rows)
        assert fold_reviews(scheduler, rows) == schedule
        reviews += len(rows)
    assert reviews > 5 * HISTORIES // PARTS
