from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from attncli.domain.rating import Rating
from attncli.practice import answering
from attncli.practice.due import due_counts
from attncli.practice.workspace import Workspace


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
    answering.answer(workspace, "att-01", Rating.EASY)
    assert due_counts(workspace).new == 1
    answering.answer(workspace, "kv-01", Rating.EASY)
    assert due_counts(workspace).new == 0
    moving_clock.move(days=1)  # type: ignore[attr-defined]
    assert due_counts(workspace).new == 2


def test_a_review_is_due_from_the_start_of_its_study_day_and_a_step_from_its_minute(
    open_workspace: Callable[..., Workspace],
) -> None:
    workspace = open_workspace(fuzz=False)
    answered = answering.answer(workspace, "att-01", Rating.EASY)
    day = workspace.calendar.day(answered.schedule.due_at)
    morning = workspace.calendar.starts_at(day)
    assert due_counts(workspace, morning).review == 1
    assert due_counts(workspace, morning - timedelta(minutes=1)).review == 0
    step = answering.answer(workspace, "att-02", Rating.GOOD).schedule.due_at
    assert due_counts(workspace, step).learning == 1
    assert due_counts(workspace, step - timedelta(seconds=1)).learning == 0


def test_counting_at_another_time_changes_nothing(workspace: Workspace) -> None:
    before = due_counts(workspace)
    due_counts(workspace, datetime(2030, 1, 1, tzinfo=UTC))
    assert due_counts(workspace) == before
