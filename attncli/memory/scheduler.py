"""FSRS-6 by py-fsrs, fed with study days instead of clock times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import fsrs

from attncli.domain.rating import Rating
from attncli.domain.schedule import Schedule, State
from attncli.memory.interval_fuzz import fuzzed_days
from attncli.memory.schedule_policy import SchedulePolicy

_STATES = {
    fsrs.State.Learning: State.LEARNING,
    fsrs.State.Review: State.REVIEW,
    fsrs.State.Relearning: State.RELEARNING,
}
_FSRS_STATES = {ours: theirs for theirs, ours in _STATES.items()}
_DAY = timedelta(days=1)


class Scheduler:
    """Turns one review into the next schedule, under one policy."""

    def __init__(self, policy: SchedulePolicy) -> None:
        self.policy = policy
        self._fsrs = fsrs.Scheduler(
            parameters=policy.parameters or fsrs.scheduler.DEFAULT_PARAMETERS,
            desired_retention=policy.desired_retention,
            learning_steps=policy.learning_steps,
            relearning_steps=policy.relearning_steps,
            maximum_interval=policy.maximum_interval_days,
            enable_fuzzing=False,
        )

    def review(self, subject: str, schedule: Schedule | None, rating: Rating, at: datetime, day: int) -> Schedule:
        """The schedule after `subject` was rated at the UTC moment `at`, which lies in study day `day`.

        py-fsrs counts elapsed days as spans of 24 hours; it is given midnights of study days, so that an evening
        and the next morning are one day apart and a clock change shifts nothing.
        """
        now = _midnight(day)
        after, _ = self._fsrs.review_card(_fsrs_card(schedule, now), fsrs.Rating(int(rating)), now)
        repetitions = schedule.repetitions + 1 if schedule else 1
        interval = self._interval(after.due - now, after.state, subject, repetitions)
        lapsed = schedule is not None and schedule.state is State.REVIEW and rating is Rating.AGAIN
        return Schedule(
            state=_STATES[after.state],
            stability_days=after.stability,
            difficulty=after.difficulty,
            step=after.step,
            reviewed_at=at,
            review_day=day,
            due_at=at + interval,
            interval_days=interval / _DAY,
            repetitions=repetitions,
            lapses=(schedule.lapses if schedule else 0) + int(lapsed),
            introduced_day=schedule.introduced_day if schedule else day,
        )

    def previews(self, subject: str, schedule: Schedule | None, at: datetime, day: int) -> dict[Rating, Schedule]:
        """What each of the four ratings would lead to."""
        return {rating: self.review(subject, schedule, rating, at, day) for rating in Rating}

    def _interval(self, interval: timedelta, state: fsrs.State, subject: str, repetition: int) -> timedelta:
        if not self.policy.fuzz or state is not fsrs.State.Review:
            return interval
        return fuzzed_days(interval.days, self.policy.maximum_interval_days, subject, repetition) * _DAY


def _midnight(day: int) -> datetime:
    return datetime.fromordinal(day).replace(tzinfo=UTC)


def _fsrs_card(schedule: Schedule | None, now: datetime) -> fsrs.Card:
    """py-fsrs's card; an id is always given, because making one up costs it a millisecond of sleep."""
    if schedule is None:
        return fsrs.Card(card_id=0, due=now)
    return fsrs.Card(
        card_id=0,
        state=_FSRS_STATES[schedule.state],
        step=schedule.step,
        stability=schedule.stability_days,
        difficulty=schedule.difficulty,
        due=now,
        last_review=_midnight(schedule.review_day),
    )
