"""What `attn optimize` tells of weights: first intervals, and the reviews and minutes that the seen cards will take."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from attncli.domain.rating import Rating
from attncli.domain.schedule import Schedule, State
from attncli.memory.forgetting_curve import retrievability
from attncli.memory.optimizer import History
from attncli.memory.schedule_policy import SchedulePolicy
from attncli.memory.scheduler import Scheduler

AHEAD_DAYS = 90
MOST_CARDS = 500
"""So many cards are played through; they stand for the rest."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Over the next days: reviews a day, and the share of due cards that is recalled (None where none comes due)."""

    reviews_a_day: float
    recall: float | None


def first_intervals(policy: SchedulePolicy) -> dict[Rating, float]:
    """Days until a card that was answered once comes again, for each rating, steps aside."""
    at = datetime(2000, 1, 1, tzinfo=UTC)
    shown = Scheduler(policy.without_steps()).previews("", None, at, at.toordinal())
    return {rating: schedule.interval_days for rating, schedule in shown.items()}


def workload(
    histories: Sequence[tuple[str, History]], today: int, policy: SchedulePolicy, truth: SchedulePolicy
) -> Workload:
    """What these cards will ask for if they are scheduled by `policy` and remembered as `truth` says."""
    played = histories[:MOST_CARDS]
    scheduler, memory = Scheduler(policy), Scheduler(truth)
    asked, recalls = 0, list[float]()
    for subject, history in played:
        shown, kept = _fold(scheduler, subject, history), _fold(memory, subject, history)
        draw = random.Random(subject)
        while (day := max(today, shown.due_day)) < today + AHEAD_DAYS:
            recalls.append(retrievability(kept.stability_days or 1.0, day - kept.review_day, truth.decay))
            ratings = [Rating.GOOD if draw.random() < recalls[-1] else Rating.AGAIN]
            while ratings:
                asked += 1
                rating = ratings.pop()
                shown = _review(scheduler, subject, shown, rating, day)
                kept = _review(memory, subject, kept, rating, day)
                if shown.state is not State.REVIEW and shown.interval_days < 1:
                    ratings.append(Rating.GOOD)
    scale = len(histories) / len(played) if played else 0.0
    return Workload(asked * scale / AHEAD_DAYS, sum(recalls) / len(recalls) if recalls else None)


def _fold(scheduler: Scheduler, subject: str, history: History) -> Schedule:
    (day, rating), *later = history
    schedule = _review(scheduler, subject, None, Rating(rating), day)
    for day, rating in later:
        schedule = _review(scheduler, subject, schedule, Rating(rating), day)
    return schedule


def _review(scheduler: Scheduler, subject: str, before: Schedule | None, rating: Rating, day: int) -> Schedule:
    return scheduler.review(subject, before, rating, datetime.fromordinal(day).replace(tzinfo=UTC), day)
