"""The plan as a use case, with clock changes and learners who travel."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from math import exp, log
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.config import WEEKDAYS, Settings
from attncli.domain.grade_report import GradeReport
from attncli.domain.log_row import Rating, RowKind
from attncli.errors import UsageError
from attncli.memory import queue_order
from attncli.memory.forecast import FIRST_RATINGS, Expected
from attncli.memory.scheduler import StudyCalendar
from attncli.paths import Home
from attncli.practice import plan as plan_basis
from attncli.practice import record
from attncli.practice.challenges import standings
from attncli.practice.grade import record_attempt
from attncli.practice.plan import Plan, interview_of, make_plan
from attncli.practice.plan_text import countdown, left_out_lines
from attncli.practice.record import take_back
from attncli.practice.stats import forecast, progress
from attncli.practice.today import due_counts
from attncli.practice.workspace import Workspace
from attncli.store import log as store_log
from clock_changes import CLOCK_CHANGES, near_changes, starts
from moved_clock import Clock

from ..support.interviews import write_bank, write_impl
from .conftest import Open

SECOND = timedelta(seconds=1)
FEW = settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])


def in_days(workspace: Workspace, days: int) -> date:
    return date.fromordinal(workspace.moment().day + days)


def with_date(open_workspace: Open, days: int, **settings: object) -> Workspace:
    workspace = open_workspace(fuzz=False, **settings)
    workspace.adopt(workspace.settings._replace(interview=in_days(workspace, days)))
    return workspace


def test_no_date_a_past_or_a_far_one_is_refused_and_today_is_not(open_workspace: Open) -> None:
    with pytest.raises(UsageError, match=r"--interview .*attn config interview") as error:
        make_plan(open_workspace())
    assert error.value.exit_code == 2 and countdown(open_workspace()) is None
    workspace = with_date(open_workspace, -1)
    with pytest.raises(UsageError, match="is in the past"):
        make_plan(workspace)
    with pytest.raises(UsageError, match="more than two years away"):
        make_plan(workspace, in_days(workspace, 800))
    assert interview_of(workspace, in_days(workspace, 0)) == in_days(workspace, 0)
    in_a_leap_year = datetime(2028, 2, 27, 12, tzinfo=UTC)
    assert interview_of(workspace, date(2030, 2, 27), in_a_leap_year) == date(2030, 2, 27)
    assert countdown(workspace) is None


def test_every_day_until_the_interview_is_planned_and_none_overfilled(open_workspace: Open) -> None:
    workspace = with_date(open_workspace, 10, minutes_per_day=2)
    plan = make_plan(workspace)
    assert [day.date for day in plan.days] == [in_days(workspace, n) for n in range(10)]
    assert all(day.minutes <= day.has_minutes + 1e-9 for day in plan.days)
    assert plan.days[0].new == ("att-01",) and plan.days[1].new == ("kv-01",), "6 cards in 10 days: one a day"
    assert plan.last_pass is not None and plan.last_pass >= in_days(workspace, 3)
    plan = make_plan(workspace, in_days(workspace, 0))
    assert (plan.days_left, len(plan.days)) == (0, 1) and plan.days[0].is_last_pass, "this morning is planned"


def test_the_minutes_that_are_needed_are_the_least_that_leave_nothing_out(open_workspace: Open) -> None:
    for days in (5, 6):
        workspace = with_date(open_workspace, days, minutes_per_day=1)
        enough = [minutes for minutes in range(5, 241, 5) if not make_plan(workspace, minutes=minutes).left_out.cards]
        plan = make_plan(workspace)
        assert plan.left_out.minutes_needed == enough[0] and plan.left_out.cards
        assert f"{enough[0]} minutes a day would cover every card" in left_out_lines(plan, "en")[0]
    assert "每天" in left_out_lines(plan, "zh")[0]
    assert "minutes a day" not in left_out_lines(make_plan(workspace, in_days(workspace, 2)), "en")[0]
    assert len(make_plan(workspace).days[0].new) == 1
    assert len(make_plan(workspace, minutes=3).days[0].new) == 3, "what is asked for comes before what is set"
    assert make_plan(workspace).days_left == 6 and make_plan(workspace, in_days(workspace, 4)).days_left == 4


def test_the_plan_reads_no_more_rows_of_a_longer_log(open_workspace: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_basis, "SAMPLED_CARDS", 1)
    workspace = with_date(open_workspace, 10)
    for card in ("att-01", "att-02", "kv-01"):
        record.answer(workspace, card, Rating.GOOD)
    read, row_of = list[str](), store_log.row_of
    monkeypatch.setattr(store_log, "row_of", lambda raw: read.append(str(raw[1])) or row_of(raw))
    assert make_plan(workspace).reviews_known == 0
    assert len(read) == 1


def test_what_was_learned_is_expected_on_the_day_and_the_plan_raises_it(open_workspace: Open) -> None:
    workspace = with_date(open_workspace, 10)
    for rating, days in ((Rating.EASY, 20), (Rating.AGAIN, 1)):
        record.answer(workspace, "kv-03", rating, workspace.clock() - timedelta(days=days))
    assert make_plan(workspace).reviews_known == 1
    for reviews in (0, 0):
        take_back(workspace)
        assert make_plan(workspace).reviews_known == reviews, "an undone review is none"
    for card in ("att-01", "kv-01"):
        record.answer(workspace, card, Rating.GOOD)
    plan = make_plan(workspace)
    assert 0 < plan.stopped.recall < plan.expected.recall < 1
    assert plan.topics["att"].seen == 1 and plan.topics["att"].planned == 2
    found = countdown(workspace)
    assert found is not None and (found.days_left, found.recall) == (10, pytest.approx(plan.stopped.recall, abs=1e-4))


def test_times_are_learned_without_clicks_and_idle_hours(open_workspace: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = with_date(open_workspace, 10)
    before, yesterday = make_plan(workspace), workspace.clock() - timedelta(days=1)
    for card, seconds in (("att-01", 5), ("kv-01", 5), ("att-03", 5), ("att-02", 9_000_000), ("kv-02", 1)):
        record.answer(workspace, card, Rating.EASY, yesterday, {"elapsed_ms": seconds * 1000})
    assert make_plan(workspace).learn_seconds == before.learn_seconds == 60, "published averages at first"
    monkeypatch.setattr(queue_order, "AVERAGES_UNTIL", 0)
    monkeypatch.setattr(queue_order, "HALF_OWN", 5)
    after = make_plan(workspace)
    assert after.learn_seconds == pytest.approx((60 + 5) / 2)
    assert after.review_seconds == before.review_seconds == 15


@pytest.mark.slow
@pytest.mark.parametrize("sessions", [10, pytest.param(200, marks=pytest.mark.full)])
def test_one_session_of_any_speed_hardly_moves_the_forecast(tmp_path: Path, moving_clock: Clock, sessions: int) -> None:
    """The learner recalls as the forecast expects; the session is the day's list, each card shown equally long."""
    bank, impl, draw = write_bank(tmp_path / "bank", marked=27), write_impl(tmp_path / "impl"), Random(sessions)
    moved = list[tuple[int, int, Expected, Expected, int, int]]()
    while len(moved) < sessions:
        days, minutes = draw.choice((7, 21, 60)), draw.choice((5, 15, 30))
        moving_clock.move(days=90)
        interview = date.fromordinal(moving_clock().toordinal() + days)
        chosen = Settings(interview=interview, minutes_per_day=minutes, level="any", code_share=0, fuzz=False)
        folder = Home(tmp_path / f"after {len(moved)}")
        with Workspace.open(folder, moving_clock, settings=chosen, quizbank=bank, impl=impl) as home:
            before = make_plan(home)
            for _ in range(min(10, days - 1, sessions - len(moved))):
                study_today(home, moving_clock, before, draw)
                assert make_plan(home).expected == before.expected, "a day's forecast rests on its morning"
                moving_clock.move(days=1)
                after = make_plan(home)
                unseen = (len(before.left_out.cards), len(after.left_out.cards))
                moved.append((days, minutes, before.expected, after.expected, *unseen))
                before = after
    assert not [each for each in moved if abs(each[2].recall - each[3].recall) >= 0.03]
    assert not [each for each in moved if abs(each[4] - each[5]) > max(3, each[4] / 10)]


def study_today(workspace: Workspace, clock: Clock, plan: Plan, draw: Random) -> None:
    """Answer the whole list, each card until it is learned."""
    basis, today = plan_basis.plan_basis(workspace, plan.interview.toordinal()), plan.today.toordinal()
    items = {item.id: item for item in basis.items}
    shown = {"elapsed_ms": int(1000 * exp(draw.uniform(log(0.5), log(600))))}
    for id in plan.days[0].cards:
        recall = basis.outlook.recall(items[id], today)
        rating = draw.choices(list(Rating), (1 - recall, 0, recall, 0) if recall else FIRST_RATINGS)[0]
        while record.answer(workspace, id, rating, details=shown).schedule.step is not None:
            clock.move(minutes=0.1)
            rating = Rating.GOOD


def test_what_was_studied_today_is_taken_off_today_and_the_queue_says_the_same(open_workspace: Open) -> None:
    workspace = with_date(open_workspace, 7, minutes_per_day=3)
    before = make_plan(workspace)
    assert before.studied_minutes == 0 and len(before.days[0].new) == 3
    for card in before.days[0].new:
        record.answer(workspace, card, Rating.EASY)
    after = make_plan(workspace)
    assert after.studied_minutes == pytest.approx(3)
    assert replace(after, studied_minutes=3.14159).document()["studied_minutes"] == 3.1
    assert after.days[0].minutes == 0 and not after.days[0].new and after.days[1].new
    assert due_counts(workspace).new == 0


def test_a_buried_card_leaves_todays_list_and_a_suspended_one_the_plan(open_workspace: Open) -> None:
    workspace = with_date(open_workspace, 10)
    before = make_plan(workspace).days
    card = before[0].new[0]
    record.hold(workspace, RowKind.BURY, card)
    after = make_plan(workspace).days
    assert card not in after[0].new and set(after[0].new) == set(before[0].new) - {card}
    assert after[0].minutes < before[0].minutes and after[1:] == before[1:]
    record.hold(workspace, RowKind.SUSPEND, "att-01")
    plan = make_plan(workspace)
    assert "att-01" not in {id for day in plan.days for id in (*day.new, *day.reviews)}
    assert plan.topics["att"].cards == 2


def test_a_solved_challenge_comes_once_it_is_due(tmp_path: Path, small_bank: Path, moving_clock: Clock) -> None:
    interview, impl = (moving_clock() + timedelta(days=20)).date(), write_impl(tmp_path / "impl")
    chosen = Settings(interview=interview, code_share=100)
    with Workspace.open(Home(tmp_path / "home"), moving_clock, settings=chosen, quizbank=small_bank, impl=impl) as home:
        (id,) = make_plan(home).days[1].code
        record_attempt(home, GradeReport(challenge=id, file="x.py", verdict="accepted", rung="solved"), "x = 1")
        (due,) = [found.schedule.due_day for found in standings(home) if found.schedule]
        assert due > home.moment().day + 1
        assert id not in make_plan(home).days[1].code


def settled(fresh: Open, zone: str, start: time = time(4), **settings: object) -> Workspace:
    """Open a new learner's workspace with study days in this zone."""
    workspace = fresh(**settings)
    move_to(workspace, zone, start)
    return workspace


def move_to(workspace: Workspace, zone: str, start: time = time(4)) -> None:
    workspace.calendar = StudyCalendar(start, ZoneInfo(zone))


@FEW
@given(near_changes, starts, st.sampled_from([zone for zone, _ in CLOCK_CHANGES]), st.sampled_from(list(Rating)))
def test_a_review_is_due_from_the_first_moment_of_its_day_wherever_the_learner_is(
    fresh: Open, change: tuple[str, datetime], start: time, destination: str, rating: Rating
) -> None:
    zone, at = change
    workspace = settled(fresh, zone, start)
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
def test_a_plan_is_the_same_all_day_long(fresh: Open, change: tuple[str, datetime], start: time, days: int) -> None:
    zone, at = change
    workspace = settled(fresh, zone, start, minutes_per_day=20, easy_days=(("sat", 50), ("sun", 0)))
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
        assert day.has_minutes or not (day.minutes or day.cards)
        assert day.has_minutes == 20 * percent.get(WEEKDAYS[day.date.weekday()], 100) / 100 * exists


@pytest.mark.parametrize(("zone", "change"), CLOCK_CHANGES)
def test_one_review_a_day_is_a_streak_across_every_change(fresh: Open, zone: str, change: datetime) -> None:
    workspace = settled(fresh, zone)
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
def test_a_clock_set_back_leaves_all_readable(fresh: Open, change: tuple[str, datetime], seconds: int) -> None:
    zone, at = change
    workspace = settled(fresh, zone)
    record.answer(workspace, "att-01", Rating.EASY, at)
    earlier = at - timedelta(seconds=seconds)
    due, found = due_counts(workspace, earlier), progress(workspace, earlier)
    assert (due.learning, due.review, found.reviews, found.seen) == (0, 0, 1, 1)
    assert 0.99 <= found.topics["att"].recall <= 1 and found.streak_days in (0, 1)
    workspace.clock = lambda: earlier
    again = record.answer(workspace, "att-01", Rating.GOOD)
    assert again.at > at and again.schedule.repetitions == 2 and again.schedule.interval_days >= 1


def test_who_lives_a_date_twice_flying_over_the_date_line_keeps_streak_and_quota(fresh: Open) -> None:
    workspace = settled(fresh, "Pacific/Auckland", new_per_day=2)
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
