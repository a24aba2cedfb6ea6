from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from attncli.domain.log_row import Rating, RowKind
from attncli.memory.scheduler import StudyCalendar
from attncli.practice import record
from attncli.practice.record import take_back
from attncli.practice.today import due_counts
from attncli.practice.workspace import Workspace

Open = Callable[..., Workspace]


def test_a_new_learner_has_the_quota_of_unseen_cards(open_workspace: Callable[..., Workspace]) -> None:
    counts = due_counts(open_workspace(new_per_day=4))
    assert counts.document() == {
        "due": 4,
        "new": 4,
        "learning": 0,
        "review": 0,
        "challenges": 0,
        "topics": {"att": 2, "kv": 2},
    }


def test_cards_seen_today_use_up_the_quota_and_tomorrow_brings_it_back(
    open_workspace: Callable[..., Workspace], moving_clock: object
) -> None:
    workspace = open_workspace(new_per_day=2)
    record.answer(workspace, "att-01", Rating.EASY)
    assert due_counts(workspace).new == 1
    record.answer(workspace, "kv-01", Rating.EASY)
    assert due_counts(workspace).new == 0
    moving_clock.move(days=1)  # type: ignore[attr-defined]
    assert due_counts(workspace).new == 2


def test_a_review_is_due_from_the_start_of_its_study_day_and_a_step_from_its_minute(
    open_workspace: Callable[..., Workspace],
) -> None:
    workspace = open_workspace(fuzz=False)
    answered = record.answer(workspace, "att-01", Rating.EASY)
    day = workspace.calendar.day(answered.schedule.due_at)
    morning = workspace.calendar.starts_at(day)
    assert due_counts(workspace, morning).review == 1
    assert due_counts(workspace, morning - timedelta(minutes=1)).review == 0
    step = record.answer(workspace, "att-02", Rating.GOOD).schedule.due_at
    assert due_counts(workspace, step).learning == 1
    assert due_counts(workspace, step - timedelta(seconds=1)).learning == 0


def test_counting_at_another_time_changes_nothing(workspace: Workspace) -> None:
    before = due_counts(workspace)
    due_counts(workspace, datetime(2030, 1, 1, tzinfo=UTC))
    assert due_counts(workspace) == before


ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai", "Pacific/Auckland"]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    zone=st.sampled_from(ZONES),
    month=st.sampled_from([3, 4, 10, 11]),
    minutes=st.integers(0, 31 * 24 * 60),
    days=st.integers(1, 9),
)
@example(zone="Europe/Berlin", month=10, minutes=24 * 1440 - 1440 + 150, days=1)  # 04:30 before the day of 25 hours
@example(zone="Europe/Berlin", month=3, minutes=28 * 1440 - 1440 + 150, days=1)  # 03:30 before the day of 23 hours
def test_a_review_is_due_from_its_study_day_on_and_not_before(
    open_workspace: Open,
    tmp_path_factory: pytest.TempPathFactory,
    moving_clock: object,
    zone: str,
    month: int,
    minutes: int,
    days: int,
) -> None:
    home = str(tmp_path_factory.mktemp("zones"))
    workspace = open_workspace(home, fuzz=False, maximum_interval_days=days, learning_steps=())
    workspace.calendar = StudyCalendar(workspace.settings.day_start, ZoneInfo(zone))
    now = datetime(2026, month, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    moving_clock.now = now - timedelta(days=30)  # type: ignore[attr-defined]
    record.answer(workspace, "att-01", Rating.EASY)
    moving_clock.now = now  # type: ignore[attr-defined]
    answered = record.answer(workspace, "att-01", Rating.EASY)
    assert answered.schedule.interval_days == days
    begins = workspace.calendar.starts_at(workspace.calendar.day(now) + days)
    assert due_counts(workspace, begins - timedelta(microseconds=1)).review == 0
    assert due_counts(workspace, begins).review == 1


def test_a_bury_lasts_for_the_study_day_that_it_was_made_in_wherever_one_is(
    workspace: Workspace, moving_clock: object
) -> None:
    def total(zone: str, hours: float = 0) -> int:
        workspace.calendar = StudyCalendar(workspace.settings.day_start, ZoneInfo(zone))
        return due_counts(workspace, now + timedelta(hours=hours)).due

    now = datetime(2026, 6, 9, 21, tzinfo=UTC)  # 09:00 on the tenth in Auckland, 11:00 on the ninth in Honolulu
    moving_clock.now = now  # type: ignore[attr-defined]
    everything = total("Pacific/Auckland")
    record.hold(workspace, RowKind.BURY, "att-01")
    assert total("Pacific/Auckland") == total("Pacific/Honolulu") == everything - 1
    assert total("Pacific/Honolulu", hours=20) == total("Pacific/Auckland", hours=20) == everything
    take_back(workspace)
    assert total("Pacific/Auckland") == everything
