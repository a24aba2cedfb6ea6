"""With an interview date the queue follows the plan, and nothing in the log or the schedules knows of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest

from attncli.domain.log_row import Rating
from attncli.practice import record
from attncli.practice.queue import due_counts
from attncli.practice.review import ReviewSession
from attncli.practice.workspace import Workspace

Open = Callable[..., Workspace]


def known(workspace: Workspace, *cards: str) -> None:
    """Cards whose next review lies far ahead."""
    for card in cards:
        for days in (200, 150, 60):
            record.answer(workspace, card, Rating.EASY, workspace.clock() - timedelta(days=days))


def set_date(workspace: Workspace, days: int, **settings: Any) -> None:
    from dataclasses import replace

    day = date.fromordinal(workspace.moment().day + days)
    workspace.adopt(replace(workspace.settings, interview=day, **settings))


def test_until_the_last_pass_due_dates_are_what_they_were(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    known(workspace, "att-01", "att-02")
    before = due_counts(workspace).review
    set_date(workspace, 20)
    assert due_counts(workspace).review == before == 0


def test_in_the_last_pass_each_seen_card_comes_once_and_no_schedule_changes(
    open_workspace: Open, moving_clock: Any
) -> None:
    workspace = open_workspace(fuzz=False)
    cards = ["att-01", "att-02", "att-03", "kv-01", "kv-02"]
    known(workspace, *cards)
    set_date(workspace, 4, minutes_per_day=1)
    before = dict(workspace.store.schedules.all())
    asked: list[tuple[int, str]] = []
    for day in range(4):
        drill = ReviewSession(workspace)
        while (item := drill.next()) is not None:
            if item.schedule is None:
                drill.suspend()
                continue
            assert item.schedule == before.get(item.card.id)
            asked.append((day, item.card.id))
            drill.answer(Rating.EASY)
        moving_clock.move(days=1)
    assert sorted(card for _, card in asked) == sorted(cards)
    assert len({day for day, _ in asked}) == 2, "two minutes of reviews are spread over two days of one minute"
    assert due_counts(workspace).review == 0


def test_before_an_interview_reviews_and_new_cards_come_as_they_are_asked_most(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    known(workspace, "kv-02", "kv-01")
    set_date(workspace, 1, minutes_per_day=10)
    drill, asked = ReviewSession(workspace), []
    while (item := drill.next()) is not None:
        asked.append(item.card.id)
        drill.answer(Rating.EASY)
    assert asked == ["att-01", "kv-01", "att-02", "kv-02", "kv-03", "att-03"]


def test_the_counts_are_those_of_the_sitting(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    known(workspace, "att-01", "att-02", "kv-01")
    set_date(workspace, 1)
    counts, left = due_counts(workspace), ReviewSession(workspace).progress
    assert (counts.review, counts.new) == (left.review, left.new) == (3, 3)
    assert ReviewSession(workspace, "kv").progress.review == 1


def test_new_cards_fill_the_minutes_that_reviews_leave_instead_of_the_quota(open_workspace: Open) -> None:
    workspace = open_workspace(new_per_day=1)
    assert due_counts(workspace).new == 1
    set_date(workspace, 20, minutes_per_day=4)
    assert due_counts(workspace).new == 4
    record.answer(workspace, "att-01", Rating.GOOD)
    assert due_counts(workspace).new == 3
    set_date(
        workspace, 20, minutes_per_day=4, easy_days=tuple((day, 0) for day in "mon tue wed thu fri sat sun".split())
    )
    assert due_counts(workspace).new == 0


@pytest.mark.parametrize("days", [-3, 0])
def test_a_date_that_does_not_lie_ahead_changes_nothing(open_workspace: Open, days: int) -> None:
    workspace = open_workspace(fuzz=False, new_per_day=2)
    known(workspace, "att-01")
    set_date(workspace, days)
    assert (due_counts(workspace).review, due_counts(workspace).new) == (0, 2)
