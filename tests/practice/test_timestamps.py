"""Handle wrong clocks: set back a little, far behind, or far ahead."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from attncli import config
from attncli.domain.grade_report import GradeReport
from attncli.domain.log_row import LogRow, Rating, RowKind
from attncli.errors import ClockWrong, UsageError
from attncli.practice import record, sync
from attncli.practice.grade import record_attempt
from attncli.practice.record import take_back
from attncli.practice.today import due_counts
from attncli.practice.workspace import Workspace

Open = Callable[..., Workspace]
FUTURE = datetime(2100, 1, 1, 10, tzinfo=UTC)


def at(moving_clock: object, moment: datetime) -> None:
    moving_clock.now = moment  # type: ignore[attr-defined]


@pytest.mark.parametrize("back", [timedelta(microseconds=1), timedelta(hours=1), timedelta(hours=23)])
def test_a_hold_counts_although_the_clock_was_set_back(
    workspace: Workspace, moving_clock: object, back: timedelta
) -> None:
    now = workspace.clock()
    record.hold(workspace, RowKind.SUSPEND, "att-01")
    at(moving_clock, now - back)
    record.hold(workspace, RowKind.UNSUSPEND, "att-01")
    assert workspace.store.schedules.hold("att-01") == (False, 0)
    first, second = workspace.store.log.everything()
    assert second.at == first.at + timedelta(microseconds=1)
    assert second.day == workspace.calendar.day(second.at)


@pytest.mark.parametrize("back", [timedelta(hours=1), timedelta(days=60)])
def test_a_bury_hides_the_card_now_whatever_the_clock_did(
    workspace: Workspace, moving_clock: object, back: timedelta
) -> None:
    total = due_counts(workspace).due
    record.hold(workspace, RowKind.UNSUSPEND, "att-01")
    at(moving_clock, workspace.clock() - back)
    record.hold(workspace, RowKind.BURY, "att-01")
    assert due_counts(workspace).due == total - 1


def test_reviews_follow_one_another_although_the_clock_was_set_back(workspace: Workspace, moving_clock: object) -> None:
    first = record.answer(workspace, "att-01", Rating.EASY)
    at(moving_clock, workspace.clock() - timedelta(hours=2))
    second = record.answer(workspace, "att-01", Rating.AGAIN)
    assert second.at == first.at + timedelta(microseconds=1)
    assert second.schedule.repetitions == 2 and second.schedule.lapses == 1


def test_a_review_from_the_future_strands_no_card(workspace: Workspace, moving_clock: object) -> None:
    now = workspace.clock()
    at(moving_clock, FUTURE)
    stray = record.answer(workspace, "att-01", Rating.EASY)
    at(moving_clock, now)
    answered = record.answer(workspace, "att-01", Rating.GOOD)
    assert answered.at == now and answered.schedule.repetitions == 1 and answered.schedule.due_at < FUTURE
    assert [row.id for row in workspace.store.log.waiting()] == [stray.row]
    workspace.derive_all()
    assert workspace.store.schedules.get("att-01") == answered.schedule


def test_a_row_from_the_future_counts_when_its_time_has_come(open_workspace: Open, moving_clock: object) -> None:
    now = datetime(2026, 6, 1, 12, tzinfo=UTC)
    with open_workspace() as workspace:
        at(moving_clock, now + timedelta(days=30))
        record.answer(workspace, "att-01", Rating.EASY)
        at(moving_clock, now)
        record.answer(workspace, "att-01", Rating.GOOD)
    for days, repetitions in ((28, 1), (29, 2), (0, 1), (40, 2)):
        at(moving_clock, now + timedelta(days=days))
        with open_workspace() as workspace:
            found = workspace.store.schedules.get("att-01")
            assert found is not None and found.repetitions == repetitions
            workspace.derive_all()
            assert workspace.store.schedules.get("att-01") == found


def test_a_row_from_the_future_can_be_taken_back(workspace: Workspace, moving_clock: object) -> None:
    now = workspace.clock()
    at(moving_clock, FUTURE)
    stray = record.answer(workspace, "att-01", Rating.EASY)
    at(moving_clock, now)
    assert take_back(workspace).id == stray.row
    assert workspace.store.schedules.get("att-01") is None and workspace.store.log.waiting() == []


def test_a_clock_that_was_far_behind_costs_nothing_in_the_end(open_workspace: Open, moving_clock: object) -> None:
    """The rows that seemed ahead were right: they count again once the clock is right."""
    now = datetime(2026, 6, 1, 12, tzinfo=UTC)
    schedules = []
    for name in ("wrong", "right"):
        for days, told in ((0, 0), (3, 3), (20, 20), (-2000, -2000 if name == "wrong" else 20), (80, 80)):
            at(moving_clock, now + timedelta(days=told))
            with open_workspace(name) as workspace:
                record.answer(workspace, "att-01", Rating.GOOD, None if told == days else now + timedelta(days=days))
        with open_workspace(name) as workspace:
            schedules.append(workspace.store.schedules.get("att-01"))
    assert schedules[0] == schedules[1] and schedules[0].repetitions == 5


def test_an_attempt_from_the_future_is_set_aside_too(workspace: Workspace, moving_clock: object) -> None:
    now = workspace.clock()
    report = GradeReport(challenge="double", file="x.py", verdict="accepted", rung="hardened")
    at(moving_clock, FUTURE)
    record_attempt(workspace, report, "one")
    at(moving_clock, now)
    record_attempt(workspace, report, "two")
    schedule = workspace.store.schedules.get("double")
    assert schedule is not None and schedule.reviewed_at == now


def test_a_moment_that_is_given_is_taken_as_it_is(workspace: Workspace) -> None:
    record.answer(workspace, "att-01", Rating.GOOD, FUTURE)
    answered = record.answer(workspace, "att-01", Rating.GOOD, FUTURE - timedelta(days=9))
    assert answered.at == FUTURE - timedelta(days=9) and answered.schedule.repetitions == 2


@pytest.mark.parametrize("year", [1, 9999])
def test_a_clock_at_the_end_of_time_is_told(workspace: Workspace, moving_clock: object, year: int) -> None:
    at(moving_clock, datetime(year, 1 if year == 1 else 12, 1 if year == 1 else 31, 20, tzinfo=UTC))
    with pytest.raises(UsageError, match="set this machine's clock"):
        due_counts(workspace)
    with pytest.raises(ClockWrong, match="between 1990 and 2200"):
        record.hold(workspace, RowKind.SUSPEND, "att-01")


@pytest.mark.parametrize("what", ["bury", "suspend", "unsuspend", "undo", "import", "attempt"])
def test_an_open_program_derives_under_the_settings_that_hold_now(
    open_workspace: Open, moving_clock: object, what: str
) -> None:
    first = open_workspace()
    for days in (40, 37, 28):
        record.answer(first, "att-01", Rating.GOOD, first.clock() - timedelta(days=days))
    files = first.source_files
    opened = Workspace.open(first.home, first.clock, quizbank=files.quizbank, impl=files.impl, settings=first.settings)
    config.save(first.home.config, "desired_retention", "0.8")
    settings = config.load(first.home.config, {})
    with Workspace.open(
        first.home, first.clock, quizbank=first.source_files.quizbank, impl=first.source_files.impl, settings=settings
    ) as changed:
        if what == "undo":
            take_back(opened)
        elif what == "import":
            moment = first.clock() - timedelta(days=5)
            row = LogRow("z-1", "z", RowKind.REVIEW, "att-01", moment, opened.calendar.day(moment), {"rating": 3})
            sync.merge(opened, [row], pytest.fail)
        elif what == "attempt":
            record_attempt(opened, GradeReport(challenge="double", file="", verdict="accepted", rung="hardened"), "x")
        else:
            record.hold(opened, RowKind(what), "att-01")
        stored = dict(changed.store.schedules.all())
        changed.derive_all()
        assert dict(changed.store.schedules.all()) == stored
    opened.close()
