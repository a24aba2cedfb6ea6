"""Due reviews, the plan, the streak and easy days at clock changes, and for learners who travel."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from itertools import count
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.config import WEEKDAYS
from attncli.domain.log_row import Rating
from attncli.memory.scheduler import StudyCalendar
from attncli.practice import record
from attncli.practice.plan import interview_of, make_plan
from attncli.practice.stats import forecast, progress
from attncli.practice.today import due_counts
from attncli.practice.workspace import Workspace
from clock_changes import CLOCK_CHANGES, near_changes, starts

Open = Callable[..., Workspace]
SECOND = timedelta(seconds=1)
FEW = settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
_names = count()


def settled(open_workspace: Open, zone: str, start: time = time(4), **settings: object) -> Workspace:
    """Open a new learner's workspace with study days in this zone."""
    workspace = open_workspace(f"home-{next(_names)}", **settings)
    move_to(workspace, zone, start)
    return workspace


def move_to(workspace: Workspace, zone: str, start: time = time(4)) -> None:
    workspace.calendar = StudyCalendar(start, ZoneInfo(zone))


@FEW
@given(near_changes, starts, st.sampled_from([zone for zone, _ in CLOCK_CHANGES]), st.sampled_from(list(Rating)))
def test_a_review_is_due_from_the_first_moment_of_its_day_wherever_the_learner_is(
    open_workspace: Open, change: tuple[str, datetime], start: time, destination: str, rating: Rating
) -> None:
    zone, at = change
    workspace = settled(open_workspace, zone, start)
    record.answer(workspace, "att-01", Rating.EASY, at)
    schedule = record.answer(workspace, "att-01", rating, at + timedelta(days=9)).schedule
    if schedule.interval_days < 1:
        return
    move_to(workspace, destination, start)
    due_day = schedule.review_day + round(schedule.interval_days)
    begins = workspace.calendar.starts_at(due_day)
    assert [due_counts(workspace, now).review for now in (begins - SECOND, begins)] == [0, 1]
    later = forecast(workspace, workspace.moment(begins - SECOND), 3)
    assert sum(day.due for day in later) == 1 and later[0].due == 0


@FEW
@given(near_changes, starts, st.integers(1, 12))
def test_a_plan_has_every_date_once_and_is_the_same_all_day_long(
    open_workspace: Open, change: tuple[str, datetime], start: time, days: int
) -> None:
    zone, at = change
    workspace = settled(open_workspace, zone, start, minutes_per_day=20, easy_days=(("sat", 50), ("sun", 0)))
    today = workspace.calendar.day(at)
    interview = date.fromordinal(today + days)
    first, last = workspace.calendar.starts_at(today), workspace.calendar.ends_at(today) - SECOND
    plan = make_plan(workspace, interview, at=at)
    assert make_plan(workspace, interview, at=first) == plan == make_plan(workspace, interview, at=last)
    assert plan.days_left == days
    assert [day.date.toordinal() for day in plan.days] == list(range(today, today + days))
    percent = {"sat": 50, "sun": 0}
    for day in plan.days:
        exists = workspace.calendar.exists(day.date.toordinal())
        assert day.has_minutes == 20 * percent.get(WEEKDAYS[day.date.weekday()], 100) / 100 * exists


@pytest.mark.parametrize(("zone", "change"), CLOCK_CHANGES)
def test_one_review_a_day_is_a_streak_across_every_change(open_workspace: Open, zone: str, change: datetime) -> None:
    workspace = settled(open_workspace, zone)
    today = change.toordinal() + 3
    studied = [day for day in range(today - 6, today) if workspace.calendar.exists(day)]
    for day in studied:
        begins, ends = workspace.calendar.starts_at(day), workspace.calendar.ends_at(day)
        record.answer(workspace, "att-01", Rating.GOOD, begins + (ends - begins) / 2)
    found = progress(workspace, workspace.calendar.starts_at(today))
    assert found.streak_days == len(studied)
    assert list(found.per_day) == [date.fromordinal(day).isoformat() for day in studied]


@FEW
@given(near_changes, st.integers(1, 86_399))
def test_a_clock_that_is_set_back_leaves_everything_readable(
    open_workspace: Open, change: tuple[str, datetime], seconds: int
) -> None:
    zone, at = change
    workspace = settled(open_workspace, zone)
    record.answer(workspace, "att-01", Rating.EASY, at)
    earlier = at - timedelta(seconds=seconds)
    due, found = due_counts(workspace, earlier), progress(workspace, earlier)
    assert (due.learning, due.review, found.reviews, found.seen) == (0, 0, 1, 1)
    assert 0.99 <= found.topics["att"].recall <= 1 and found.streak_days in (0, 1)
    workspace.clock = lambda: earlier
    again = record.answer(workspace, "att-01", Rating.GOOD)
    assert again.at > at and again.schedule.repetitions == 2 and again.schedule.interval_days >= 1


def test_who_lives_a_date_twice_flying_over_the_date_line_keeps_streak_and_quota(open_workspace: Open) -> None:
    workspace = settled(open_workspace, "Pacific/Auckland", new_per_day=2)
    in_auckland = datetime(2026, 6, 9, 21, tzinfo=UTC)
    for day in range(3):
        record.answer(workspace, "att-01", Rating.GOOD, in_auckland + timedelta(days=day))
    record.answer(workspace, "att-02", Rating.GOOD, in_auckland + timedelta(days=2))
    move_to(workspace, "America/Los_Angeles")
    in_los_angeles = in_auckland + timedelta(days=2, hours=14)
    assert workspace.calendar.day(in_los_angeles) == date(2026, 6, 12).toordinal()
    assert due_counts(workspace, in_los_angeles).new == 1
    assert progress(workspace, in_los_angeles).streak_days == 3
    assert due_counts(workspace, in_los_angeles - timedelta(hours=8)).review == 0


def test_a_leap_day_is_a_day_like_any_other(open_workspace: Open) -> None:
    workspace = settled(open_workspace, "Europe/London")
    at = datetime(2028, 2, 27, 12, tzinfo=UTC)
    plan = make_plan(workspace, date(2028, 3, 2), at=at)
    assert [day.date.day for day in plan.days] == [27, 28, 29, 1] and plan.days_left == 4
    assert interview_of(workspace, date(2028, 2, 29), at) == date(2028, 2, 29)
    assert interview_of(workspace, date(2030, 2, 27), at) == date(2030, 2, 27)
