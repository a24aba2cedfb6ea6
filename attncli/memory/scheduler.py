"""Schedules: FSRS-6 by py-fsrs, fed with study days instead of clock times; the forgetting curve; study days.

py-fsrs is imported only to compute a schedule, so that commands that only need the calendar start faster.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import fsrs

    from attncli.domain.log_row import Rating, Schedule

LEECH_LAPSES = 8
"""A card that was forgotten so often is a leech."""
DEFAULT_DECAY = 0.1542
SMALLEST_FUZZED_DAYS = 2.5
_RANGES = ((2.5, 7.0, 0.15), (7.0, 20.0, 0.1), (20.0, math.inf, 0.05))


class SchedulePolicy(NamedTuple):
    """The settings that turn reviews into intervals; with the log they determine every schedule.

    `parameters` are the 21 FSRS-6 weights, none for the published ones. Defaults are those of `config.Settings`.
    """

    desired_retention: float
    learning_steps: tuple[timedelta, ...]
    relearning_steps: tuple[timedelta, ...]
    maximum_interval_days: int
    fuzz: bool
    parameters: tuple[float, ...] = ()
    topic_retention: tuple[tuple[str, float], ...] = ()

    @property
    def decay(self) -> float:
        """The exponent of the forgetting curve, positive: FSRS-6's last weight."""
        return self.parameters[20] if self.parameters else DEFAULT_DECAY

    def without_steps(self) -> SchedulePolicy:
        """Return this policy in whole days, for challenges: they are not repeated within minutes."""
        return self._replace(learning_steps=(), relearning_steps=())


class Scheduler:
    """Turns one review into the next schedule, under one policy."""

    def __init__(self, policy: SchedulePolicy) -> None:
        import fsrs

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
        """Return the schedule after `subject` was rated at the UTC moment `at`, which lies in study day `day`.

        py-fsrs counts elapsed days as spans of 24 hours. It gets the midnights of study days, so that an evening and
        the next morning are one day apart and a clock change shifts nothing.
        """
        import fsrs

        from attncli.domain.log_row import Rating, Schedule, State

        now = _midnight(day)
        after, _ = self._fsrs.review_card(_fsrs_card(schedule, now), fsrs.Rating(int(rating)), now)
        repetitions = schedule.repetitions + 1 if schedule else 1
        interval = after.due - now
        if self.policy.fuzz and after.state is fsrs.State.Review:
            days = fuzzed_days(interval.days, self.policy.maximum_interval_days, subject, repetitions)
            interval = timedelta(days=days)
        lapsed = schedule is not None and schedule.state is State.REVIEW and rating is Rating.AGAIN
        return Schedule(
            state=State[after.state.name.upper()],
            stability_days=after.stability,
            difficulty=after.difficulty,
            step=after.step,
            reviewed_at=at,
            review_day=day,
            due_at=at + interval,
            interval_days=interval / timedelta(days=1),
            repetitions=repetitions,
            lapses=(schedule.lapses if schedule else 0) + int(lapsed),
            introduced_day=schedule.introduced_day if schedule else day,
        )

    def previews(self, subject: str, schedule: Schedule | None, at: datetime, day: int) -> dict[Rating, Schedule]:
        """Return the schedule that each of the four ratings would lead to."""
        from attncli.domain.log_row import Rating

        return {rating: self.review(subject, schedule, rating, at, day) for rating in Rating}


def _midnight(day: int) -> datetime:
    return datetime.fromordinal(day).replace(tzinfo=UTC)


def _fsrs_card(schedule: Schedule | None, now: datetime) -> fsrs.Card:
    """Return py-fsrs's card. It always gets an id, because making one up costs py-fsrs a millisecond of sleep."""
    import fsrs

    if schedule is None:
        return fsrs.Card(card_id=0, due=now)
    return fsrs.Card(
        card_id=0,
        state=fsrs.State[schedule.state.name.capitalize()],
        step=schedule.step,
        stability=schedule.stability_days,
        difficulty=schedule.difficulty,
        due=now,
        last_review=_midnight(schedule.review_day),
    )


def fuzzed_days(interval_days: int, maximum_days: int, subject: str, repetition: int) -> int:
    """Spread an interval within its range, so that cards learned together do not stay together.

    The hash of (subject, repetition) decides: the button shows the days that will be applied, undo changes nothing, and
    every machine agrees. The draw is floored, because rounding it would reach one day past the range.
    """
    if interval_days < SMALLEST_FUZZED_DAYS:
        return interval_days
    least, greatest = fuzz_range(interval_days, maximum_days)
    from hashlib import sha256

    digest = sha256(f"{subject}\n{repetition}".encode()).digest()
    fraction = int.from_bytes(digest[:8], "big") / 2**64
    return least + math.floor(fraction * (greatest - least + 1))


def fuzz_range(interval_days: int, maximum_days: int) -> tuple[int, int]:
    """Return the least and the greatest number of days that `interval_days` may become, as FSRS defines them."""
    delta = 1.0 + sum(factor * max(min(float(interval_days), end) - start, 0.0) for start, end, factor in _RANGES)
    greatest = min(round(interval_days + delta), maximum_days)
    return min(max(2, round(interval_days - delta)), greatest), greatest


def retrievability(stability_days: float, elapsed_days: float, decay: float = DEFAULT_DECAY) -> float:
    """Return the probability (0…1) of recall `elapsed_days` after a review that left `stability_days`.

    The FSRS-6 forgetting curve: R(t) = (1 + F·t/S)^(−decay), with F such that R(S) = 0.9.
    """
    return float((1 + curve_factor(decay) * max(0.0, elapsed_days) / stability_days) ** -decay)


def curve_factor(decay: float = DEFAULT_DECAY) -> float:
    """Return the F of the forgetting curve."""
    return float(0.9 ** (-1 / decay) - 1)


def recall_on(schedule: Schedule, day: int, decay: float = DEFAULT_DECAY) -> float:
    """Return the probability that a reviewed card is recalled on study day `day`."""
    if schedule.stability_days is None:
        return 0.0
    return retrievability(schedule.stability_days, day - schedule.review_day, decay)


class StudyCalendar(NamedTuple):
    """Maps moments to study days (proleptic ordinals) and back. Study days roll over at a local hour.

    `zone` None is the machine's own time zone. A day begins when the wall clock first shows `day_start` on its date; if
    the clock skips that time, later by as much as it skips. A day lasts until the next one begins: 23 or 25 hours when
    the clock changes, none at all where a zone left out a date. So every moment lies in exactly one day.
    """

    day_start: time = time(4, 0)
    zone: tzinfo | None = None

    def day(self, at: datetime) -> int:
        """Return the study day of the aware moment `at`."""
        wall = at.astimezone(self.zone).replace(tzinfo=None)
        day = (wall - self._offset).toordinal()
        while at < self.starts_at(day):
            day -= 1
        while at >= self.ends_at(day):
            day += 1
        return day

    def starts_at(self, day: int) -> datetime:
        """Return the UTC moment at which study day `day` begins."""
        wall = datetime.fromordinal(day) + self._offset
        if self.zone is not None:
            return wall.replace(tzinfo=self.zone).astimezone(UTC)
        # Not `wall.astimezone()`: if the clock skips that time, it uses the offset after the change.
        return datetime.fromtimestamp(wall.timestamp(), UTC)

    def ends_at(self, day: int) -> datetime:
        """Return the UTC moment at which study day `day` ends and the next begins."""
        return self.starts_at(day + 1)

    def exists(self, day: int) -> bool:
        """Return True if study day `day` has any moment: a zone that moves across the date line leaves one out."""
        return self.starts_at(day) < self.ends_at(day)

    @property
    def _offset(self) -> timedelta:
        return timedelta(hours=self.day_start.hour, minutes=self.day_start.minute)
