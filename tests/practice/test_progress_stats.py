from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta

import pytest

from attncli.domain.log_row import Rating, RowKind
from attncli.practice import record
from attncli.practice.record import take_back
from attncli.practice.stats import overview, progress, retention, streak
from attncli.practice.workspace import Workspace

Open = Callable[..., Workspace]


@pytest.mark.parametrize(
    ("days", "length"), [([], 0), ([10], 1), ([9], 1), ([8], 0), ([8, 9, 10], 3), ([8, 9], 2), ([7, 9, 10], 2)]
)
def test_a_streak_is_the_days_in_a_row_and_today_may_still_come(days: list[int], length: int) -> None:
    assert streak(dict.fromkeys(days, 3), today=10, exists=lambda day: True) == length


def test_retention_counts_the_first_review_of_a_day_of_cards_known_from_before(workspace: Workspace) -> None:
    with workspace.store.transaction():
        for minute, (card, day, rating) in enumerate(
            [
                ("a", 1, 1),  # the first ever: no memory to speak of
                ("a", 1, 3),  # repetition on the same day
                ("a", 5, 3),  # recalled
                ("a", 9, 1),  # forgotten
                ("a", 9, 3),  # same day
                ("b", 9, 1),  # the first ever
            ]
        ):
            at = workspace.clock() + timedelta(minutes=minute)
            workspace.store.log.append(RowKind.REVIEW, card, at, day, {"rating": rating})
    days = workspace.store.log.review_days()
    assert days == [(1, 2, 0, 0), (5, 1, 1, 0), (9, 3, 0, 1)]
    assert retention(days, first_day=0) == 0.5
    assert retention(days, first_day=6) == 0.0
    assert retention(days, first_day=10) is None


def test_topics_of_which_most_is_asked_and_left_come_first(workspace: Workspace) -> None:
    asked = {topic.id: topic.asked for topic in workspace.library.topics()}
    first, *others = overview(workspace).topics
    assert len(others) == 1 and asked[first] >= asked[others[0]] > 0
    for card in workspace.library.cards(topic=first):
        record.answer(workspace, card.id, Rating.EASY)
    assert list(overview(workspace).topics) == [*others, first]


def test_nothing_done_is_no_retention_and_an_empty_forecast(workspace: Workspace) -> None:
    found = asdict(progress(workspace))
    assert (found["reviews"], found["streak_days"], found["retention"], found["cards"]) == (0, 0, None, 6)
    assert [day["due"] for day in found["forecast"]] == [0] * 14
    assert found["topics"]["att"] == {"seen": 0, "total": 3, "recall": 0.0, "readiness": 0.0, "lapses": 0, "weak": ()}


def test_readiness_is_recall_over_all_cards_of_the_topic(open_workspace: Open, moving_clock: object) -> None:
    workspace = open_workspace(fuzz=False)
    record.answer(workspace, "att-01", Rating.EASY)
    now = progress(workspace).topics["att"]
    assert (now.seen, now.recall, now.readiness) == (1, 1.0, pytest.approx(1 / 3, abs=1e-3))
    moving_clock.move(days=8.2956)  # type: ignore[attr-defined]
    later = progress(workspace).topics["att"]
    assert later.recall == pytest.approx(0.9, abs=0.01) and later.readiness == pytest.approx(0.3, abs=0.01)


def test_the_forecast_holds_every_reviewed_card_once_overdue_ones_today(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    now = workspace.clock()
    record.answer(workspace, "att-01", Rating.EASY, now - timedelta(days=30))
    record.answer(workspace, "att-02", Rating.EASY, now)
    record.answer(workspace, "kv-01", Rating.GOOD, now)
    record.answer(workspace, "kv-02", Rating.EASY, now)
    record.hold(workspace, RowKind.SUSPEND, "kv-02")
    due = [day.due for day in progress(workspace).forecast]
    assert due == [2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]
    assert progress(workspace).forecast[0].date == "2026-06-12"


def test_undone_reviews_are_in_no_figure(workspace: Workspace) -> None:
    record.answer(workspace, "att-01", Rating.GOOD)
    take_back(workspace)
    found = progress(workspace)
    assert (found.reviews, found.today, found.streak_days, found.seen, found.per_day) == (0, 0, 0, 0, {})
