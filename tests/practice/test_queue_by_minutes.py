"""With `minutes_per_day` in config.toml today's queue is limited to it; without it nothing changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from attncli.config import WEEKDAYS
from attncli.config import load as load_settings
from attncli.domain.log_row import Rating
from attncli.memory.queue_order import LEARN_SECONDS, REVIEW_SECONDS
from attncli.practice import record
from attncli.practice.queue import seconds_a_card
from attncli.practice.review import ReviewSession
from attncli.practice.today import due_counts
from attncli.practice.workspace import Workspace

Open = Callable[..., Workspace]


def known(workspace: Workspace, **days_ago: int) -> None:
    """Log first answers of cards so many days ago, in the order of their names; each is due by now."""
    for card, days in days_ago.items():
        name = card.replace("_", "-")
        record.answer(workspace, name, Rating.EASY, workspace.clock() - timedelta(days=days))


def set_minutes(workspace: Workspace, minutes: int, **easy: int) -> None:
    lines = [f"minutes_per_day = {minutes}"]
    if easy:
        lines.append('easy_days = "' + " ".join(f"{day}={percent}" for day, percent in easy.items()) + '"')
    workspace.home.config.write_text("\n".join(lines) + "\nfuzz = false\n", encoding="utf-8")
    workspace.adopt(load_settings(workspace.home.config, {}))


def asked(workspace: Workspace) -> list[str]:
    drill, ids = ReviewSession(workspace), []
    while item := drill.next():
        ids.append(item.card.id)
        drill.rate(Rating.EASY)
    return ids


def test_what_was_not_set_limits_nothing(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False, minutes_per_day=1)
    known(workspace, att_01=40, att_02=30, att_03=20, kv_01=10, kv_02=10)
    assert (due_counts(workspace).review, due_counts(workspace).new, due_counts(workspace).left_out) == (5, 1, 0)


def test_reviews_come_before_new_cards_and_what_does_not_fit_stays_due(open_workspace: Open, moving_clock: Any) -> None:
    workspace = open_workspace(fuzz=False)
    known(workspace, att_01=100, att_02=60, att_03=30, kv_01=20, kv_02=9)
    set_minutes(workspace, 1)
    counts = due_counts(workspace)
    assert (counts.review, counts.new, counts.left_out) == (4, 0, 1)
    assert sum(counts.topics.values()) == counts.due == ReviewSession(workspace).progress.remaining == 4
    before = workspace.store.schedules.get("att-01")
    assert set(asked(workspace)) == {"att-02", "att-03", "kv-01", "kv-02"}
    assert workspace.store.schedules.get("att-01") == before
    moving_clock.move(days=1)
    assert asked(workspace)[0] == "att-01"


def test_reviews_that_lose_most_by_waiting_come_first(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False, learning_steps=())
    for card, rating, days in (("att-01", Rating.EASY, 9), ("kv-01", Rating.AGAIN, 2), ("att-02", Rating.EASY, 60)):
        record.answer(workspace, card, rating, workspace.clock() - timedelta(days=days))
    set_minutes(workspace, 1, **dict.fromkeys(WEEKDAYS, 25))
    assert asked(workspace) == ["kv-01"]


def test_a_new_card_costs_what_its_first_weeks_cost_and_new_per_day_is_the_most(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    set_minutes(workspace, 4)
    assert due_counts(workspace).new == 2
    set_minutes(workspace, 240)
    assert due_counts(workspace).new == 6
    workspace.home.config.write_text("minutes_per_day = 240\nnew_per_day = 1\n", encoding="utf-8")
    workspace.adopt(load_settings(workspace.home.config, {}))
    assert due_counts(workspace).new == 1


def test_an_easy_day_has_less_and_a_day_off_nothing_but_steps(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    known(workspace, att_01=100, att_02=60, att_03=30, kv_01=20)
    set_minutes(workspace, 1, **dict.fromkeys(WEEKDAYS, 50))
    assert due_counts(workspace).review == 2
    set_minutes(workspace, 1, **dict.fromkeys(WEEKDAYS, 0))
    assert (due_counts(workspace).due, due_counts(workspace).left_out) == (0, 4)


def test_the_list_of_a_day_stays_and_one_slow_review_changes_no_other(open_workspace: Open, moving_clock: Any) -> None:
    workspace = open_workspace(fuzz=False)
    known(workspace, att_01=100, att_02=60, att_03=30, kv_01=20, kv_02=9)
    set_minutes(workspace, 1)
    drill = ReviewSession(workspace)
    drill.next()
    moving_clock.move(seconds=45)
    drill.rate(Rating.EASY)
    assert due_counts(workspace).review == 3
    moving_clock.move(days=1)
    assert due_counts(workspace).review == 4


def test_the_learner_s_own_pace_counts_once_enough_of_it_is_known(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    assert seconds_a_card(workspace, workspace.moment()) == (LEARN_SECONDS, REVIEW_SECONDS)
    for days in range(25, 0, -1):
        for card in ("att-01", "att-02", "att-03", "kv-01", "kv-02"):
            at = workspace.clock() - timedelta(days=days)
            record.answer(workspace, card, Rating.GOOD, at, {"elapsed_ms": 45_000})
    learn, review = seconds_a_card(workspace, workspace.moment())
    assert learn == LEARN_SECONDS and REVIEW_SECONDS < review < 45


def test_settings_that_break_while_something_is_open_limit_nothing(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    known(workspace, att_01=100, att_02=60, att_03=30, kv_01=20, kv_02=9)
    set_minutes(workspace, 1)
    workspace.home.config.write_text("minutes_per_day =", encoding="utf-8")
    assert due_counts(workspace).review == 5
