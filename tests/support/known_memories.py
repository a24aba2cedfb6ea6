"""Simulate learners whose memory has known weights, on days scheduled by the published ones."""

import random
from datetime import UTC, datetime

import fsrs

from attncli.domain.log_row import Rating, Schedule
from attncli.memory.optimizer import History
from attncli.memory.scheduler import SchedulePolicy, Scheduler, retrievability

FIRST_DAY = 738_000
NEW_A_DAY = 10
SCHEDULED = SchedulePolicy(
    desired_retention=0.9, learning_steps=(), relearning_steps=(), maximum_interval_days=36_500, fuzz=False
)
PUBLISHED = tuple(fsrs.scheduler.DEFAULT_PARAMETERS)
LONG_MEMORY = (*(2.0, 6.0, 15.0, 40.0), *PUBLISHED[4:8], 2.4, 0.05, *PUBLISHED[10:20], 0.1)
SHORT_MEMORY = (*(0.1, 0.3, 0.6, 1.5), *PUBLISHED[4:8], 1.2, *PUBLISHED[9:20], 0.4)


def reviews_of_a_learner(weights: tuple[float, ...], seed: int, cards: int = 400, days: int = 180) -> list[History]:
    """Return the reviews of a learner with this memory over `days` days."""
    scheduler, memory = Scheduler(SCHEDULED), Scheduler(SCHEDULED._replace(parameters=weights))
    draw = random.Random(seed)
    return [_card(scheduler, memory, draw, FIRST_DAY + card // NEW_A_DAY, FIRST_DAY + days) for card in range(cards)]


def _card(scheduler: Scheduler, memory: Scheduler, draw: random.Random, day: int, end: int) -> History:
    rating = Rating(draw.choices((1, 2, 3, 4), (2, 1, 5, 2))[0])
    shown, kept = _review(scheduler, None, rating, day), _review(memory, None, rating, day)
    history = [(day, int(rating))]
    while shown.due_day < end:
        day = shown.due_day + draw.choice((0, 0, 0, 1, 3))
        assert kept.stability_days is not None
        recalled = draw.random() < retrievability(kept.stability_days, day - kept.review_day, memory.policy.decay)
        rating = Rating(draw.choices((2, 3, 4), (1, 6, 1))[0]) if recalled else Rating.AGAIN
        shown, kept = _review(scheduler, shown, rating, day), _review(memory, kept, rating, day)
        history.append((day, int(rating)))
    return history


def _review(scheduler: Scheduler, before: Schedule | None, rating: Rating, day: int) -> Schedule:
    return scheduler.review("", before, rating, datetime.fromordinal(day).replace(tzinfo=UTC), day)
