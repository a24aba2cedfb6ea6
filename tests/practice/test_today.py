"""Estimate the time for due cards, and explain an empty queue."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import pytest

from attncli import config
from attncli.domain.log_row import Rating, RowKind
from attncli.practice import record
from attncli.practice.plan_text import Reason, standstill
from attncli.practice.today import cards_left, due_counts
from attncli.practice.workspace import Workspace

Open = Callable[..., Workspace]


def every_card(workspace: Workspace) -> list[str]:
    return list(workspace.store.index.card_ids())


def test_the_limit_names_what_waits_and_the_next_day(open_workspace: Open) -> None:
    workspace = open_workspace(new_per_day=2, fuzz=False, learning_steps=())
    for card in cards_left(workspace, workspace.moment()):
        record.answer(workspace, card.id, Rating.EASY, workspace.clock())
    found = standstill(workspace)
    assert due_counts(workspace).due == 0 and found.reason == "limit"
    assert (found.introduced, found.unseen) == (2, len(every_card(workspace)) - 2)
    assert found.next_at == workspace.moment().day_end


def test_a_step_is_next_though_new_cards_wait_for_tomorrow(open_workspace: Open) -> None:
    workspace = open_workspace(new_per_day=1, fuzz=False)
    record.answer(workspace, every_card(workspace)[0], Rating.AGAIN, workspace.clock())
    assert standstill(workspace).next_at == workspace.clock() + timedelta(minutes=1)


def test_all_seen_and_none_due_names_the_day_of_the_next_review(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False, learning_steps=())
    for card in every_card(workspace):
        record.answer(workspace, card, Rating.EASY, workspace.clock())
    found = standstill(workspace)
    first = min(schedule.interval_days for _, schedule in workspace.store.schedules.all())
    assert found.reason == "waiting" and found.next_at is not None
    assert found.next_at == workspace.calendar.starts_at(workspace.moment().day + round(first))


@pytest.mark.parametrize(("kind", "reason"), [(RowKind.SUSPEND, "suspended"), (RowKind.BURY, "buried")])
def test_everything_put_away(open_workspace: Open, kind: RowKind, reason: Reason) -> None:
    workspace = open_workspace()
    for card in every_card(workspace):
        record.hold(workspace, kind, card)
    found = standstill(workspace)
    assert due_counts(workspace).due == 0 and found.reason == reason
    assert found.next_at == (workspace.moment().day_end if kind is RowKind.BURY else None)


def test_no_new_cards_wanted(open_workspace: Open) -> None:
    found = standstill(open_workspace(new_per_day=0))
    assert found.reason == "off" and found.next_at is None


def test_before_an_interview_the_list_is_what_is_done(open_workspace: Open) -> None:
    workspace = open_workspace(easy_days=tuple((day, 0) for day in ("mon", "tue", "wed", "thu", "fri", "sat", "sun")))
    interview = date.fromordinal(workspace.moment().day + 20)
    workspace.adopt(workspace.settings._replace(interview=interview))
    assert due_counts(workspace).due == 0 and standstill(workspace).reason == "planned"


def test_minutes_that_hold_no_new_card_are_named_and_not_the_limit(open_workspace: Open) -> None:
    workspace = open_workspace(new_per_day=10)
    workspace.adopt(workspace.settings._replace(minutes_per_day=1))
    assert standstill(workspace).reason == "limit", "nobody has chosen the usual minutes"
    config.save(workspace.home.config, "minutes_per_day", "1")
    assert due_counts(workspace).due == 0
    found = standstill(workspace)
    assert (found.introduced, found.reason, found.next_at) == (0, "minutes", workspace.moment().day_end)
