"""Compute statistics from histories and schedules: SQL sums agree with counting one by one."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from attncli.domain.log_row import LastReview, Rating, ReviewDay, RowKind, Schedule, State
from attncli.memory.replay import is_leech
from attncli.memory.scheduler import recall_on
from attncli.practice import record, stats
from attncli.practice.queue import curve_on, has_missed, is_weak, weaknesses
from attncli.practice.record import take_back
from attncli.practice.stats import RecallRecord, forecast, minutes_by_day, overview, progress, retention, streak
from attncli.practice.workspace import Workspace
from attncli.store.connection import Connection
from moved_clock import Clock

from .conftest import Open

CARDS = ["att-01", "att-02", "att-03", "kv-01", "kv-02"]
Answers = list[tuple[str, Rating, int]]
answers = st.lists(st.tuples(st.sampled_from(CARDS), st.sampled_from(Rating), st.integers(0, 200)), max_size=25)
points = st.one_of(st.lists(st.integers(0, 2), unique=True), st.just({"0": True}))
told = st.fixed_dictionaries({}, optional={"points": points, "correct": st.sampled_from([True, False, "no", None])})


def test_a_streak_is_the_days_in_a_row_and_retention_the_share_recalled() -> None:
    for length, studied in enumerate(([[], [8]], [[10], [9]], [[8, 9], [7, 9, 10]], [[8, 9, 10]])):
        for days in studied:
            assert streak(dict.fromkeys(days, 3), today=10, exists=lambda day: True) == length, "today may still come"
    days = [ReviewDay(1, 2, 0, 0), ReviewDay(5, 1, 1, 0), ReviewDay(9, 3, 0, 1)]
    assert [retention(days, first_day=day) for day in (0, 6, 10)] == [0.5, 0.0, None]


def test_topics_of_which_most_is_asked_and_left_come_first(workspace: Workspace) -> None:
    asked = {topic.id: topic.asked for topic in workspace.library.topics()}
    first, *others = overview(workspace).topics
    assert len(others) == 1 and asked[first] >= asked[others[0]] > 0
    for card in workspace.library.cards(topic=first):
        record.answer(workspace, card.id, Rating.EASY)
    assert list(overview(workspace).topics) == [*others, first]


def test_nothing_done_or_all_undone_is_no_retention_and_an_empty_forecast(workspace: Workspace) -> None:
    before = asdict(progress(workspace))
    assert (before["reviews"], before["streak_days"], before["retention"], before["cards"]) == (0, 0, None, 6)
    assert [day["due"] for day in before["forecast"]] == [0] * 14 and before["forecast"][0]["date"] == "2026-06-12"
    none = {"seen": 0, "recall": 0.0, "readiness": 0.0, "lapses": 0, "weak": ()}
    assert before["topics"]["att"] == {**none, "total": 3}
    record.answer(workspace, "att-01", Rating.GOOD)
    take_back(workspace)
    assert asdict(progress(workspace)) == before and before["per_day"] == {}


def answered(workspace: Workspace, clock: Clock, card: str, days: int, rating: Rating, ms: int | None = 20_000) -> None:
    clock.move(days=days)
    record.answer(workspace, card, rating, details={} if ms is None else {"elapsed_ms": ms})


def whole(workspace: Workspace) -> RecallRecord:
    found = RecallRecord(workspace)
    while found.read_on(1):
        pass
    return found


def test_the_first_review_of_a_later_day_tells_of_memory(workspace: Workspace, moving_clock: Clock) -> None:
    answered(workspace, moving_clock, "att-01", 0, Rating.AGAIN)
    answered(workspace, moving_clock, "att-01", 0, Rating.EASY)
    assert whole(workspace).recalls == []
    before = workspace.store.schedules.get("att-01")
    answered(workspace, moving_clock, "att-01", 9, Rating.AGAIN)
    answered(workspace, moving_clock, "att-01", 0, Rating.GOOD)
    [recall] = whole(workspace).recalls
    assert recall.elapsed_days == 9 and not recall.recalled and recall.seconds == 40, "the whole day's time"
    assert before is not None
    assert recall.predicted == pytest.approx(recall_on(before, before.review_day + 9, workspace.policy.decay))
    answered(workspace, moving_clock, "att-01", 2, Rating.GOOD, ms=None)
    _, recall = whole(workspace).recalls
    assert recall.recalled and recall.seconds is None, "it was not timed"
    take_back(workspace)
    assert len(whole(workspace).recalls) == 1


def test_groups_are_of_the_cards_reviewed_last(fresh: Open, moving_clock: Clock, monkeypatch: Any) -> None:
    workspace = fresh(fuzz=False)
    for card, rating in (("att-01", Rating.GOOD), ("att-02", Rating.AGAIN), ("kv-01", Rating.GOOD)):
        answered(workspace, moving_clock, card, 0, Rating.EASY)
        answered(workspace, moving_clock, card, 2, rating)
    answered(workspace, moving_clock, "kv-01", 30, Rating.AGAIN)
    found = whole(workspace)
    days = found.by_days()
    assert [(share.name, share.reviews) for share in days] == [("2", 3), ("15", 1)]
    assert days[0].recalled == pytest.approx(2 / 3) and days[1].recalled == 0 and days[1].elapsed_days == 30
    topics = {share.name: share.reviews for share in found.by_topic()}
    assert topics == {"att": 2, "kv": 2} and sum(share.reviews for share in found.by_kind()) == 4
    predicted = found.by_prediction()
    assert [share.predicted for share in predicted] == sorted(share.predicted for share in predicted)
    assert all(float(share.name) <= share.predicted <= 1 for share in predicted)
    monkeypatch.setattr(stats, "SAMPLED_CARDS", 2)
    some = whole(workspace)
    assert {recall.card for recall in some.recalls} == {"att-02", "kv-01"} and some.cards == 2


def test_minutes_a_day_are_those_of_timed_reviews(workspace: Workspace, moving_clock: Clock) -> None:
    answered(workspace, moving_clock, "att-01", 0, Rating.EASY, ms=90_000)
    answered(workspace, moving_clock, "att-02", 0, Rating.EASY, ms=30_000)
    answered(workspace, moving_clock, "att-03", 1, Rating.EASY, ms=None)
    minutes = [spent for _, spent in minutes_by_day(workspace)]
    assert len(minutes) == 14 and minutes[-2:] == [2.0, 0.0] and not any(minutes[:-2])
    first, last = minutes_by_day(workspace)[0][0], minutes_by_day(workspace)[-1][0]
    assert last - first == timedelta(days=13)


def test_no_more_is_read_of_a_longer_log(workspace: Workspace, moving_clock: Clock, monkeypatch: Any) -> None:
    """One query per card, for that card's rows alone, and two more in total."""
    for _ in range(3):
        for card in ("att-01", "att-02"):
            answered(workspace, moving_clock, card, 2, Rating.GOOD)
    asked: list[str] = []
    rows = Connection.rows
    monkeypatch.setattr(Connection, "rows", lambda self, sql, *values: asked.append(sql) or rows(self, sql, *values))
    whole(workspace)
    minutes_by_day(workspace)
    assert all("LIMIT" in sql or "subject IN" in sql or "card = ?" in sql for sql in asked), asked


def reviewed(workspace: Workspace, given_answers: Answers) -> Workspace:
    for card, rating, days in sorted(given_answers, key=lambda answer: -answer[2]):
        record.answer(workspace, card, rating, workspace.clock() - timedelta(days=days))
    return workspace


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answers, st.integers(0, 60))
def test_topics_stand_as_their_cards_do(fresh: Open, given_answers: Answers, ahead: int) -> None:
    workspace = reviewed(fresh(), given_answers)
    when = workspace.moment(workspace.clock() + timedelta(days=ahead))
    schedules = dict(workspace.store.schedules.all())
    last = {card: rating for card, rating, _days in sorted(given_answers, key=lambda answer: -answer[2])}

    def recalled(card: str, schedule: Schedule) -> float:
        is_forgotten_today = schedule.review_day >= when.day and last[card] is Rating.AGAIN
        return 0.0 if is_forgotten_today else recall_on(schedule, when.day)

    for topic, standing in stats.topic_standings(workspace, when).items():
        seen = {card: schedule for card, schedule in schedules.items() if card.startswith(topic)}
        recalls = {card: recalled(card, schedule) for card, schedule in seen.items()}
        assert (standing.seen, standing.total) == (len(seen), 3)
        assert standing.readiness == pytest.approx(sum(recalls.values()) / 3, abs=1e-4)
        assert standing.recall == pytest.approx(sum(recalls.values()) / max(1, len(seen)), abs=1e-4)
        assert standing.lapses == sum(schedule.lapses for schedule in seen.values())
    due = {card: recalled(card, schedule) for card, schedule in schedules.items() if schedule.due_day <= when.day}
    found = workspace.store.queue.due_by_then(curve_on(workspace, when))
    assert [recall for recall, _ in found] == sorted(recall for recall, _ in found)
    assert {card: recall for recall, card in found} == pytest.approx(due)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(CARDS), st.sampled_from(Rating), told), max_size=8), st.integers(0, 60))
@example([("att-02", Rating.EASY, {"correct": False}), ("att-01", Rating.EASY, {"points": [0]})], 0)
def test_weak_cards_are_those_of_the_log(fresh: Open, given_answers: list[tuple[str, Rating, Any]], ahead: int) -> None:
    workspace = fresh()
    last: dict[str, LastReview] = {}
    for card, rating, details in given_answers:
        record.answer(workspace, card, rating, details=details)
        points, correct = details.get("points"), details.get("correct")
        points = points if isinstance(points, list) else None
        last[card] = LastReview(int(rating), points, correct if isinstance(correct, bool) else None)
    when = workspace.moment(workspace.clock() + timedelta(days=ahead))
    expected, schedules = set(), dict(workspace.store.schedules.all())
    for card, schedule in schedules.items():
        missed = has_missed(last[card], 3 if card == "att-01" else 0)
        if is_weak(schedule.lapses, recall_on(schedule, when.day), missed):
            expected.add(card)
    found = [weak.card for weak in weaknesses(workspace, when)]
    assert set(found) == expected and len(found) == len(expected)
    if not ahead:
        listed = {card.card: card.leech for topic in progress(workspace).topics.values() for card in topic.weak}
        assert listed == {card: is_leech(schedules[card]) for card in expected}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answers, st.sets(st.sampled_from(CARDS)))
def test_the_forecast_is_what_the_schedules_say(fresh: Open, given_answers: Answers, suspended: set[str]) -> None:
    workspace = reviewed(fresh(), given_answers)
    for card in suspended:
        record.hold(workspace, RowKind.SUSPEND, card)
    when, counts = workspace.moment(), [0] * 14
    for card, schedule in workspace.store.schedules.all():
        is_review = schedule.state is State.REVIEW
        ahead = max(0, (schedule.due_day if is_review else workspace.calendar.day(schedule.due_at)) - when.day)
        if card not in suspended and ahead < 14:
            counts[ahead] += 1
    assert [day.due for day in forecast(workspace, when)] == counts
