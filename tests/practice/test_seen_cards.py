"""Compare SQL sums over all seen cards with their schedules, one by one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.domain.log_row import LastReview, Rating, RowKind, Schedule, State
from attncli.memory.replay import is_leech
from attncli.memory.scheduler import recall_on
from attncli.practice import record
from attncli.practice.queue import curve_on, has_missed, is_weak, weaknesses
from attncli.practice.stats import forecast, progress, topic_standings
from attncli.practice.workspace import Workspace

CARDS = ["att-01", "att-02", "att-03", "kv-01", "kv-02"]
Open = Callable[..., Workspace]
answers = st.lists(st.tuples(st.sampled_from(CARDS), st.sampled_from(Rating), st.integers(0, 200)), max_size=25)


def reviewed(open_workspace: Open, folder: str, given_answers: list[tuple[str, Rating, int]]) -> Workspace:
    workspace = open_workspace(folder)
    for card, rating, days in sorted(given_answers, key=lambda answer: -answer[2]):
        record.answer(workspace, card, rating, workspace.clock() - timedelta(days=days))
    return workspace


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answers, st.integers(0, 60))
def test_topics_stand_as_their_cards_do(
    open_workspace: Open,
    tmp_path_factory: pytest.TempPathFactory,
    given_answers: list[tuple[str, Rating, int]],
    ahead: int,
) -> None:
    workspace = reviewed(open_workspace, str(tmp_path_factory.mktemp("seen")), given_answers)
    when = workspace.moment(workspace.clock() + timedelta(days=ahead))
    schedules = dict(workspace.store.schedules.all())
    last = {card: rating for card, rating, _days in sorted(given_answers, key=lambda answer: -answer[2])}

    def recalled(card: str, schedule: Schedule) -> float:
        is_forgotten_today = schedule.review_day >= when.day and last[card] is Rating.AGAIN
        return 0.0 if is_forgotten_today else recall_on(schedule, when.day)

    for topic, standing in topic_standings(workspace, when).items():
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


told = st.fixed_dictionaries(
    {},
    optional={
        "points": st.one_of(st.lists(st.integers(0, 2), unique=True), st.just({"0": True})),
        "correct": st.sampled_from([True, False, "no", None]),
    },
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(CARDS), st.sampled_from(Rating), told), max_size=8), st.integers(0, 60))
def test_weak_cards_are_those_of_the_log(
    open_workspace: Open,
    tmp_path_factory: pytest.TempPathFactory,
    given_answers: list[tuple[str, Rating, dict[str, object]]],
    ahead: int,
) -> None:
    workspace = open_workspace(str(tmp_path_factory.mktemp("seen")))
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


@pytest.mark.parametrize(
    ("told", "read"),
    [
        ({}, LastReview(2, None, None)),
        ({"points": [0, 2]}, LastReview(2, [0, 2], None)),
        ({"points": [], "correct": True}, LastReview(2, [], True)),
        ({"correct": False}, LastReview(2, None, False)),
        ({"points": {"0": True}, "correct": "no"}, LastReview(2, None, None)),
    ],
)
def test_the_last_review_of_a_card_is_read_with_what_was_told(
    workspace: Workspace, told: dict[str, object], read: LastReview
) -> None:
    record.answer(workspace, "att-01", Rating.HARD, details=told)
    curve = curve_on(workspace, workspace.moment())
    assert [last for *_, last in workspace.store.queue.perhaps_weak(curve, 0.0, 0)] == [read]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answers, st.sets(st.sampled_from(CARDS)))
def test_the_forecast_is_what_the_schedules_say(
    open_workspace: Open,
    tmp_path_factory: pytest.TempPathFactory,
    given_answers: list[tuple[str, Rating, int]],
    suspended: set[str],
) -> None:
    workspace = reviewed(open_workspace, str(tmp_path_factory.mktemp("seen")), given_answers)
    for card in suspended:
        record.hold(workspace, RowKind.SUSPEND, card)
    when, counts = workspace.moment(), [0] * 14
    for card, schedule in workspace.store.schedules.all():
        is_review = schedule.state is State.REVIEW
        ahead = max(0, (schedule.due_day if is_review else workspace.calendar.day(schedule.due_at)) - when.day)
        if card not in suspended and ahead < 14:
            counts[ahead] += 1
    assert [day.due for day in forecast(workspace, when)] == counts
