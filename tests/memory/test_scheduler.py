"""Run the published FSRS vectors through our scheduler, and check its additions: study days and its own fuzz."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attncli.domain.log_row import Rating, Schedule, State
from attncli.memory.scheduler import SchedulePolicy, Scheduler, StudyCalendar

from .conftest import policy

START = datetime(2022, 11, 29, 12, 30, tzinfo=UTC)
CALENDAR = StudyCalendar(zone=UTC)
PLAIN = policy(fuzz=False)
NO_STEPS = policy(fuzz=False, learning_steps=(), relearning_steps=())
A = [3, 3, 3, 3, 3, 3, 1, 1, 3, 3, 3, 3, 3]
FITTED = (
    *(0.12, 1.29, 2.4, 8.3, 6.7, 0.5, 2.0, 0.01, 1.6, 0.15, 0.8),
    *(1.6, 0.1, 0.3, 1.6, 0.5, 1.8, 0.5, 0.1, 0.1, 0.2),
)


def at_due(ratings: Sequence[int], policy: SchedulePolicy = PLAIN) -> list[Schedule]:
    """Return the schedules of a chain of reviews, each made when due."""
    scheduler, schedule, at, chain = Scheduler(policy), None, START, []
    for rating in ratings:
        schedule = scheduler.review("card", schedule, Rating(rating), at, CALENDAR.day(at))
        chain.append(schedule)
        at = schedule.due_at
    return chain


def whole_days(chain: Sequence[Schedule]) -> list[int]:
    return [int(schedule.interval_days) for schedule in chain]


@pytest.mark.parametrize(
    ("ratings", "policy", "days"),
    [
        (A, PLAIN, [0, 2, 11, 46, 163, 498, 0, 0, 2, 4, 7, 12, 21]),
        ([4, 4, 4, 4], PLAIN, [8, 66, 397, 1875]),
        ([1, 3, 3, 3, 3], PLAIN, [0, 0, 1, 2, 7]),
        ([2, 2, 2, 3, 3], PLAIN, [0, 0, 0, 0, 1]),
        ([3, 3, 1, 3, 3, 3], PLAIN, [0, 2, 0, 1, 2, 6]),
        ([3, 3, 4, 2, 3, 1, 3, 3, 3], PLAIN, [0, 2, 19, 56, 164, 0, 5, 11, 23]),
        ([2] * 6, NO_STEPS, [1, 3, 7, 12, 18, 25]),
        ([3] * 6, NO_STEPS, [2, 11, 46, 163, 497, 1346]),
        ([4] * 6, NO_STEPS, [8, 66, 397, 1875, 7265, 23933]),
        ([1] * 6, NO_STEPS, [1] * 6),
        (A, policy(fuzz=False, desired_retention=0.85), [0, 4, 31, 174, 776, 2870, 0, 0, 6, 14, 30, 60, 113]),
        (A, policy(fuzz=False, maximum_interval_days=100), [0, 2, 11, 46, 100, 100, 0, 0, 2, 4, 7, 12, 20]),
    ],
)
def test_intervals_are_those_of_the_published_vectors(
    ratings: list[int], policy: SchedulePolicy, days: list[int]
) -> None:
    assert whole_days(at_due(ratings, policy)) == days


def test_memory_state_is_that_of_the_published_vector() -> None:
    scheduler, schedule, at = Scheduler(PLAIN), None, START
    for rating, gap in zip([1, 3, 3, 3, 3, 3], [0, 0, 1, 3, 8, 21], strict=True):
        at += timedelta(days=gap)
        schedule = scheduler.review("card", schedule, Rating(rating), at, CALENDAR.day(at))
    assert schedule is not None
    assert schedule.stability_days == pytest.approx(53.62691, abs=1e-4)
    assert schedule.difficulty == pytest.approx(6.3574867, abs=1e-4)


def test_ten_easy_answers_in_a_row_reach_the_least_difficulty() -> None:
    scheduler, schedule = Scheduler(PLAIN), None
    for microsecond in range(10):
        at = START + timedelta(microseconds=microsecond)
        schedule = scheduler.review("card", schedule, Rating.EASY, at, CALENDAR.day(at))
    assert schedule is not None and schedule.difficulty == 1.0


def test_a_thousand_lapses_keep_stability_positive() -> None:
    scheduler, schedule, at = Scheduler(PLAIN), None, START
    for _ in range(1000):
        schedule = scheduler.review("card", schedule, Rating.AGAIN, at, CALENDAR.day(at))
        at = schedule.due_at + timedelta(days=1)
        assert schedule.stability_days is not None and schedule.stability_days >= 0.001


@pytest.mark.parametrize(
    ("steps", "ratings", "minutes"),
    [((10,), [2], 15), ((1, 10), [2], 5.5), ((1, 10), [3, 2], 10), ((1, 10), [3], 10), ((1, 10), [1], 1)],
)
def test_hard_repeats_a_step_and_the_first_one_halfway(
    steps: tuple[int, ...], ratings: list[int], minutes: float
) -> None:
    stepped = policy(fuzz=False, learning_steps=tuple(timedelta(minutes=step) for step in steps))
    assert at_due(ratings, stepped)[-1].interval_days * 1440 == pytest.approx(minutes)


def test_a_forgotten_card_relearns_in_steps() -> None:
    lapsed = at_due([4, 1])[-1]
    assert (lapsed.state, lapsed.lapses, lapsed.interval_days * 1440) == (State.RELEARNING, 1, pytest.approx(10))
    assert at_due([4, 1, 2])[-1].interval_days * 1440 == pytest.approx(15)
    assert at_due([4, 1, 3])[-1].state is State.REVIEW


def test_without_steps_a_card_goes_straight_to_review() -> None:
    for rating in Rating:
        first = at_due([rating], NO_STEPS)[-1]
        assert first.state is State.REVIEW and first.interval_days >= 1


def test_an_evening_and_the_next_morning_are_a_day_apart() -> None:
    scheduler = Scheduler(PLAIN)
    evening = datetime(2026, 3, 1, 23, 0, tzinfo=UTC)
    first = scheduler.review("card", None, Rating.EASY, evening, CALENDAR.day(evening))
    morning = evening + timedelta(hours=10)
    next_day = scheduler.review("card", first, Rating.GOOD, morning, CALENDAR.day(morning))
    late = evening + timedelta(hours=4)
    same_day = scheduler.review("card", first, Rating.GOOD, late, CALENDAR.day(late))
    assert next_day.stability_days != same_day.stability_days
    assert next_day.stability_days == scheduler.review(
        "card", first, Rating.GOOD, evening + timedelta(days=1), CALENDAR.day(evening) + 1
    ).stability_days  # fmt: skip


@given(
    st.lists(st.tuples(st.sampled_from(Rating), st.floats(0, 400)), min_size=1, max_size=12),
    st.text(min_size=1, max_size=8),
)
def test_the_button_shows_what_is_applied(reviews: list[tuple[Rating, float]], card: str) -> None:
    scheduler, schedule, at = Scheduler(policy()), None, START
    for rating, gap in reviews:
        at += timedelta(days=gap)
        shown = scheduler.previews(card, schedule, at, CALENDAR.day(at))
        schedule = scheduler.review(card, schedule, rating, at, CALENDAR.day(at))
        assert shown[rating] == schedule


@given(st.lists(st.tuples(st.sampled_from(Rating), st.floats(0, 400)), min_size=1, max_size=12))
def test_the_spread_moves_due_dates_and_never_the_memory_state(reviews: list[tuple[Rating, float]]) -> None:
    plain, spread = Scheduler(PLAIN), Scheduler(policy())
    one = other = None
    at = START
    for rating, gap in reviews:
        at += timedelta(days=gap)
        one = plain.review("card", one, rating, at, CALENDAR.day(at))
        other = spread.review("card", other, rating, at, CALENDAR.day(at))
        assert (one.stability_days, one.difficulty, one.state) == (other.stability_days, other.difficulty, other.state)


@settings(max_examples=30)
@given(st.sampled_from(Rating), st.floats(0.7, 0.97), st.floats(0.7, 0.97))
def test_more_retention_never_means_longer_intervals(rating: Rating, one: float, other: float) -> None:
    lower, higher = sorted((one, other))
    chains = [at_due([3, 3, rating], policy(fuzz=False, desired_retention=r))[-1] for r in (higher, lower)]
    assert chains[0].interval_days <= chains[1].interval_days


def test_fitted_parameters_are_used() -> None:
    assert whole_days(at_due([3] * 4, policy(parameters=FITTED, fuzz=False))) != whole_days(at_due([3] * 4))
