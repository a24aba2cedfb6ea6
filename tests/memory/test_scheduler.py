"""Agree with py-fsrs interval for interval, and check our additions: study days and our own fuzz."""

from __future__ import annotations

import random
import time as clock
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import fsrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attncli.domain.log_row import HIGHEST_WEIGHTS, LOWEST_WEIGHTS, LogRow, Rating, RowKind, Schedule
from attncli.memory.replay import fold_reviews
from attncli.memory.scheduler import SchedulePolicy, Scheduler, StudyCalendar, fuzz_range, fuzzed_days, retrievability
from clock_changes import near_changes, starts

from .conftest import policy

START = datetime(2022, 11, 29, 12, 30, tzinfo=UTC)
CALENDAR = StudyCalendar(zone=UTC)
PLAIN = policy(fuzz=False)
NO_STEPS = policy(fuzz=False, learning_steps=(), relearning_steps=())
A = [3, 3, 3, 3, 3, 3, 1, 1, 3, 3, 3, 3, 3]
HISTORIES, PARTS = 5_000, 10
MOST_REVIEWS = 20
LAST_YEAR = 2190
DAY_MINUTES = 1_440
STEPS_MINUTES = [(1, 10), (10,), (), (1, 10, 60), (DAY_MINUTES, 3 * DAY_MINUTES), (30, 720)]
RELEARNING_MINUTES = [(10,), (), (10, 60), (DAY_MINUTES,)]
Review = tuple[datetime, Rating]
MOST = 36_500


def at_due(ratings: Sequence[int], policy: SchedulePolicy = PLAIN) -> list[Schedule]:
    """Return the schedules of a chain of reviews, each made when due."""
    scheduler, schedule, at, chain = Scheduler(policy), None, START, []
    for rating in ratings:
        schedule = scheduler.review("card", schedule, Rating(rating), at, CALENDAR.day(at))
        chain.append(schedule)
        at = schedule.due_at
    return chain


@pytest.mark.parametrize(
    ("ratings", "policy", "days"),
    [
        (A, PLAIN, [0, 2, 11, 46, 163, 498, 0, 0, 2, 4, 7, 12, 21]),
        ([2, 2, 2, 3, 3], PLAIN, [0, 0, 0, 0, 1]),
        ([3, 3, 4, 2, 3, 1, 3, 3, 3], PLAIN, [0, 2, 19, 56, 164, 0, 5, 11, 23]),
        ([4] * 6, NO_STEPS, [8, 66, 397, 1875, 7265, 23933]),
        ([1] * 6, NO_STEPS, [1] * 6),
        (A, policy(fuzz=False, desired_retention=0.85), [0, 4, 31, 174, 776, 2870, 0, 0, 6, 14, 30, 60, 113]),
        (A, policy(fuzz=False, maximum_interval_days=100), [0, 2, 11, 46, 100, 100, 0, 0, 2, 4, 7, 12, 20]),
    ],
)
def test_intervals_are_those_published(ratings: list[int], policy: SchedulePolicy, days: list[int]) -> None:
    assert [int(schedule.interval_days) for schedule in at_due(ratings, policy)] == days


def test_an_evening_and_the_next_morning_are_a_day_apart() -> None:
    scheduler = Scheduler(PLAIN)
    evening = datetime(2026, 3, 1, 23, 0, tzinfo=UTC)
    first = scheduler.review("card", None, Rating.EASY, evening, CALENDAR.day(evening))
    morning = evening + timedelta(hours=10)
    next_day = scheduler.review("card", first, Rating.GOOD, morning, CALENDAR.day(morning))
    late = evening + timedelta(hours=4)
    same_day = scheduler.review("card", first, Rating.GOOD, late, CALENDAR.day(late))
    assert next_day.stability_days != same_day.stability_days
    tomorrow = (evening + timedelta(days=1), CALENDAR.day(evening) + 1)
    assert next_day.stability_days == scheduler.review("card", first, Rating.GOOD, *tomorrow).stability_days


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
    weights, most = policy.parameters or fsrs.scheduler.DEFAULT_PARAMETERS, policy.maximum_interval_days
    steps = (policy.learning_steps, policy.relearning_steps)
    return fsrs.Scheduler(weights, policy.desired_retention, *steps, maximum_interval=most, enable_fuzzing=False)


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
    state, memory = (schedule.state.value, schedule.step), (schedule.stability_days, schedule.difficulty)
    return *state, *memory, schedule.due_at, interval


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


def test_the_day_begins_at_four_in_the_morning_and_may_have_23_or_25_hours_or_be_left_out() -> None:
    calendar = StudyCalendar(zone=UTC)
    night = datetime(2026, 5, 2, 3, 59, tzinfo=UTC)
    assert calendar.day(night) == datetime(2026, 5, 1).toordinal()
    assert calendar.day(night + timedelta(minutes=1)) == datetime(2026, 5, 2).toordinal()
    calendar = StudyCalendar(time(0, 0), ZoneInfo("Europe/Berlin"))
    for month, day, hours in ((3, 29, 23), (10, 25, 25), (6, 1, 24)):
        ordinal = datetime(2026, month, day).toordinal()
        assert calendar.ends_at(ordinal) - calendar.starts_at(ordinal) == timedelta(hours=hours)
    calendar, left_out = StudyCalendar(zone=ZoneInfo("Pacific/Apia")), datetime(2011, 12, 30).toordinal()
    assert [calendar.exists(left_out + n) for n in (-1, 0, 1)] == [True, False, True]


@given(near_changes, starts)
@example(("America/New_York", datetime(2026, 3, 8, 12, tzinfo=UTC)), time(2, 30))
@example(("Asia/Beirut", datetime(2026, 3, 29, 12, tzinfo=UTC)), time(0, 0))
def test_the_machine_s_own_zone_has_the_days_of_that_zone(change: tuple[str, datetime], start: time) -> None:
    zone, at = change
    named, own = StudyCalendar(start, ZoneInfo(zone)), StudyCalendar(start)
    day = named.day(at)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", zone)
        clock.tzset()
        found = own.day(at), own.starts_at(day), own.ends_at(day)
    clock.tzset()
    assert found == (day, named.starts_at(day), named.ends_at(day))


@given(near_changes, starts, st.integers(0, 2 * 86_400))
def test_every_moment_lies_in_exactly_one_study_day(change: tuple[str, datetime], start: time, seconds: int) -> None:
    zone, at = change
    calendar = StudyCalendar(start, ZoneInfo(zone))
    day = calendar.day(at)
    assert [n for n in range(day - 3, day + 4) if calendar.starts_at(n) <= at < calendar.ends_at(n)] == [day]
    wall = calendar.starts_at(day).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    assert datetime.combine(datetime.fromordinal(day), start) <= wall, "at its hour, or later on its own date"
    assert calendar.exists(day) and day <= calendar.day(at + timedelta(seconds=seconds))
    assert calendar.ends_at(day) == calendar.starts_at(day + 1)
    assert calendar.day(calendar.ends_at(day)) > day >= calendar.day(calendar.starts_at(day))


@given(st.floats(0.001, 1e5), st.floats(0.1, 0.8))
def test_recall_is_nine_in_ten_after_one_stability(stability: float, decay: float) -> None:
    assert retrievability(stability, stability, decay) == pytest.approx(0.9)


@given(st.floats(0.001, 1e5), st.integers(0, 30_000))
def test_the_curve_is_that_of_py_fsrs(stability: float, days: int) -> None:
    card = fsrs.Card(card_id=1, state=fsrs.State.Review, stability=stability, difficulty=5, last_review=START)
    theirs = fsrs.Scheduler().get_card_retrievability(card, START + timedelta(days=days))
    assert retrievability(stability, days) == pytest.approx(theirs)


@given(st.integers(1, MOST), st.integers(1, MOST), st.text(max_size=10), st.integers(1, 1000))
def test_an_interval_stays_within_its_range_and_the_maximum(days: int, most: int, card: str, repetition: int) -> None:
    days = min(days, most)
    moved = fuzzed_days(days, most, card, repetition)
    assert moved <= max(most, days)
    if days < 2.5:
        assert moved == days
    else:
        least, greatest = fuzz_range(days, most)
        assert least <= moved <= greatest


def test_every_day_of_the_range_is_drawn_about_equally_often_and_none_past_it() -> None:
    drawn = Counter(fuzzed_days(10, MOST, f"card-{number}", 3) for number in range(5000))
    assert sorted(drawn) == [8, 9, 10, 11, 12]
    assert max(drawn.values()) < 1.2 * min(drawn.values())
    assert fuzzed_days(100, MOST, "att-02", 4) == 104, "the same card and repetition move alike on every machine"
    assert len({fuzzed_days(100, MOST, "att-02", repetition) for repetition in range(20)}) > 3
