"""Compute recall statistics from the cards' histories: shares, predictions, limits on rows read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from attncli.domain.log_row import Rating
from attncli.memory.scheduler import recall_on
from attncli.practice import record as record_review
from attncli.practice import stats
from attncli.practice.record import take_back
from attncli.practice.stats import RecallRecord, minutes_by_day
from attncli.practice.workspace import Workspace
from attncli.store.connection import Connection

Open = Callable[..., Workspace]


def answered(
    workspace: Workspace, clock: object, card: str, days: int, rating: Rating, ms: int | None = 20_000
) -> None:
    clock.move(days=days)  # type: ignore[attr-defined]
    details = {} if ms is None else {"elapsed_ms": ms}
    record_review.answer(workspace, card, rating, workspace.clock(), details=details)


def whole(workspace: Workspace) -> RecallRecord:
    record = RecallRecord(workspace)
    while record.read_on(1):
        pass
    return record


def test_a_review_on_a_later_day_is_compared_with_what_fsrs_predicted(
    open_workspace: Open, moving_clock: object
) -> None:
    workspace = open_workspace(fuzz=False)
    answered(workspace, moving_clock, "att-01", 0, Rating.EASY)
    before = workspace.store.schedules.get("att-01")
    answered(workspace, moving_clock, "att-01", 3, Rating.GOOD)
    assert before is not None
    [recall] = whole(workspace).recalls
    assert recall.elapsed_days == 3 and recall.recalled and recall.seconds == 20
    assert recall.predicted == pytest.approx(recall_on(before, before.review_day + 3, workspace.policy.decay))


def test_only_the_first_review_of_a_later_day_tells_of_memory(open_workspace: Open, moving_clock: object) -> None:
    workspace = open_workspace()
    answered(workspace, moving_clock, "att-01", 0, Rating.AGAIN)
    answered(workspace, moving_clock, "att-01", 0, Rating.EASY)
    assert whole(workspace).recalls == []
    answered(workspace, moving_clock, "att-01", 9, Rating.AGAIN)
    answered(workspace, moving_clock, "att-01", 0, Rating.GOOD)
    [recall] = whole(workspace).recalls
    assert not recall.recalled and recall.seconds == 40, "the whole day's time"


def test_what_was_taken_back_and_what_was_not_timed(open_workspace: Open, moving_clock: object) -> None:
    workspace = open_workspace()
    answered(workspace, moving_clock, "att-01", 0, Rating.EASY)
    answered(workspace, moving_clock, "att-01", 2, Rating.AGAIN, ms=None)
    [recall] = whole(workspace).recalls
    assert recall.seconds is None
    take_back(workspace)
    assert whole(workspace).recalls == []


def test_groups_have_counts_shares_and_means_in_order(open_workspace: Open, moving_clock: object) -> None:
    workspace = open_workspace(fuzz=False)
    for card, rating in (("att-01", Rating.GOOD), ("att-02", Rating.AGAIN), ("kv-01", Rating.GOOD)):
        answered(workspace, moving_clock, card, 0, Rating.EASY)
        answered(workspace, moving_clock, card, 2, rating)
    answered(workspace, moving_clock, "kv-01", 30, Rating.AGAIN)
    record = whole(workspace)
    days = record.by_days()
    assert [(share.name, share.reviews) for share in days] == [("2", 3), ("15", 1)]
    assert days[0].recalled == pytest.approx(2 / 3) and days[1].recalled == 0 and days[1].elapsed_days == 30
    topics = {share.name: share.reviews for share in record.by_topic()}
    assert topics == {"att": 2, "kv": 2} and sum(share.reviews for share in record.by_kind()) == 4
    predicted = record.by_prediction()
    assert [share.predicted for share in predicted] == sorted(share.predicted for share in predicted)
    assert all(float(share.name) <= share.predicted <= 1 for share in predicted)


def test_only_the_cards_reviewed_last_are_followed(
    open_workspace: Open, moving_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = open_workspace()
    for card in ("att-01", "att-02", "kv-01"):
        answered(workspace, moving_clock, card, 0, Rating.EASY)
        answered(workspace, moving_clock, card, 3, Rating.GOOD)
    monkeypatch.setattr(stats, "SAMPLED_CARDS", 2)
    record = whole(workspace)
    assert {recall.card for recall in record.recalls} == {"att-02", "kv-01"} and record.cards == 2


def test_minutes_a_day_are_those_of_timed_reviews(open_workspace: Open, moving_clock: object) -> None:
    workspace = open_workspace()
    answered(workspace, moving_clock, "att-01", 0, Rating.EASY, ms=90_000)
    answered(workspace, moving_clock, "att-02", 0, Rating.EASY, ms=30_000)
    answered(workspace, moving_clock, "att-03", 1, Rating.EASY, ms=None)
    minutes = [spent for _, spent in minutes_by_day(workspace)]
    assert len(minutes) == 14 and minutes[-2:] == [2.0, 0.0] and not any(minutes[:-2])
    first, last = minutes_by_day(workspace)[0][0], minutes_by_day(workspace)[-1][0]
    assert last - first == timedelta(days=13)


def test_how_much_is_read_does_not_grow_with_the_log(
    open_workspace: Open, moving_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One query per card, for that card's rows alone, and two more in total."""
    workspace = open_workspace()
    for _ in range(3):
        for card in ("att-01", "att-02"):
            answered(workspace, moving_clock, card, 2, Rating.GOOD)
    asked: list[str] = []
    rows = Connection.rows
    monkeypatch.setattr(Connection, "rows", lambda self, sql, *values: asked.append(sql) or rows(self, sql, *values))
    whole(workspace)
    minutes_by_day(workspace)
    assert all("LIMIT" in sql or "subject IN" in sql or "card = ?" in sql for sql in asked), asked
