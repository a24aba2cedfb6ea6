from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from attncli.domain.log_row import Rating, RowKind, State
from attncli.errors import NotFound, Outdated, UsageError
from attncli.practice import record
from attncli.practice.review import ReviewSession, SessionProgress
from attncli.practice.workspace import Workspace

Open = Callable[..., Workspace]


def test_a_sitting_asks_everything_once_and_ends(workspace: Workspace) -> None:
    drill, asked = ReviewSession(workspace), []
    while item := drill.next():
        asked.append(item.card.id)
        drill.rate(Rating.EASY)
    assert sorted(asked) == ["att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03"]
    assert asked[:2] == ["att-01", "kv-01"], "core cards first, topics take turns"
    assert drill.progress == SessionProgress(answered=6, new=0, learning=0, review=0)


def test_each_answer_is_on_disk_before_the_next_card(workspace: Workspace, open_workspace: Open) -> None:
    drill = ReviewSession(workspace)
    for number in range(1, 4):
        assert drill.next()
        drill.rate(Rating.GOOD)
        assert open_workspace().store.log.length() == number


def test_asking_twice_gives_the_same_card_and_a_step_in_reach_comes_back(
    workspace: Workspace, moving_clock: object
) -> None:
    drill = ReviewSession(workspace, topic="att")
    first = drill.next()
    assert first is drill.next() is not None
    drill.rate(Rating.AGAIN)
    for _ in range(2):
        second = drill.next()
        assert second is not None and second.card.id != first.card.id
        drill.rate(Rating.EASY)
    again = drill.next()
    assert again is not None and again.card.id == first.card.id and again.state is State.LEARNING


def test_a_due_step_goes_before_everything_else(workspace: Workspace, moving_clock: object) -> None:
    drill = ReviewSession(workspace)
    first = drill.next()
    assert first is not None
    drill.rate(Rating.AGAIN)
    moving_clock.move(minutes=2)  # type: ignore[attr-defined]
    again = drill.next()
    assert again is not None and again.card.id == first.card.id


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    start=st.datetimes(datetime(2026, 6, 12), datetime(2026, 6, 13), timezones=st.just(UTC)),
    answers=st.lists(st.tuples(st.sampled_from(Rating), st.integers(0, 40)), min_size=1, max_size=12),
)
@example(start=datetime(2026, 6, 12, 3, 50, tzinfo=UTC), answers=[(Rating.EASY, 0), (Rating.EASY, 20)])
def test_buttons_show_what_answering_applies(
    open_workspace: Open,
    tmp_path_factory: pytest.TempPathFactory,
    moving_clock: object,
    start: datetime,
    answers: list[tuple[Rating, int]],
) -> None:
    moving_clock.now = start  # type: ignore[attr-defined]
    workspace = open_workspace(str(tmp_path_factory.mktemp("buttons")))
    drill = ReviewSession(workspace)
    for rating, minutes in answers:
        item = drill.next()
        if item is None:
            break
        shown, length = item.interval(rating), workspace.store.log.length()
        moving_clock.move(minutes=minutes)  # type: ignore[attr-defined]
        try:
            schedule = drill.rate(rating).schedule
        except Outdated:
            assert workspace.store.log.length() == length
            assert drill.current is not None and drill.current is drill.next() is not item
            assert drill.current.interval(rating) != shown
            shown = drill.current.interval(rating)
            schedule = drill.rate(rating).schedule
        assert timedelta(days=schedule.interval_days) == shown
        assert schedule.due_at - schedule.reviewed_at == shown


def test_a_button_that_says_too_little_by_now_is_refused_and_shown_anew(
    open_workspace: Open, moving_clock: object
) -> None:
    workspace = open_workspace(fuzz=False)
    for card in ("att-01", "att-02", "att-03"):
        record.answer(workspace, card, Rating.EASY, workspace.clock() - timedelta(days=20))
    drill = ReviewSession(workspace, topic="att")
    item = drill.next()
    assert item is not None
    moving_clock.move(days=10)  # type: ignore[attr-defined]
    with pytest.raises(Outdated, match="the intervals of card att-01 have changed"):
        drill.rate(Rating.GOOD)
    assert workspace.store.log.length() == 3
    anew = drill.current
    assert anew is not None and anew.interval(Rating.GOOD) > item.interval(Rating.GOOD)
    assert timedelta(days=drill.rate(Rating.GOOD).schedule.interval_days) == anew.interval(Rating.GOOD)


def test_a_card_without_a_bank_is_left_out(workspace: Workspace) -> None:
    drill = ReviewSession(workspace)
    first = drill.next()
    assert first is not None
    with workspace.store.transaction():
        workspace.store.connection.execute("DELETE FROM card WHERE id <> 'kv-03'")
    with pytest.raises(NotFound):
        drill.rate(Rating.GOOD)
    drill.drop()
    last = drill.next()
    assert last is not None and last.card.id == "kv-03"


def test_what_was_put_away_in_this_sitting_can_be_taken_back(workspace: Workspace) -> None:
    drill = ReviewSession(workspace)
    asked = []
    for settle in (drill.suspend, lambda: drill.rate(Rating.EASY), drill.bury):
        item = drill.next()
        assert item is not None
        asked.append(item.card.id)
        settle()
    for id in reversed(asked):
        assert drill.undo().card.id == id
        assert workspace.store.schedules.hold(id) == (False, 0)
    assert drill.answers == () and drill.last_done is None


def test_undo_asks_the_card_again_and_keeps_the_one_that_was_asked(workspace: Workspace) -> None:
    drill = ReviewSession(workspace)
    first = drill.next()
    assert first is not None
    drill.rate(Rating.EASY)
    second = drill.next()
    assert second is not None
    before = drill.progress
    assert drill.undo().card.id == first.card.id
    assert drill.progress == SessionProgress(0, before.new + 1, 0, 0)
    drill.rate(Rating.EASY)
    again = drill.next()
    assert again is not None and again.card.id == second.card.id
    drill.undo()
    with pytest.raises(UsageError, match="there is no answer in this session"):
        drill.undo()


@pytest.mark.parametrize("limit", [None, 1])
def test_a_card_to_ask_again_comes_once_more_at_the_end_and_that_answer_changes_nothing(
    workspace: Workspace, limit: int | None
) -> None:
    drill = ReviewSession(workspace, "kv", limit)
    first = drill.next()
    assert first is not None and [drill.ask_again() for _ in range(3)] == [True, False, True]
    assert drill.progress.learning == 1 and drill.progress.remaining == (4 if limit is None else 2)
    while (item := drill.next()) is not None and not item.is_repeat:
        assert drill.is_recorded
        drill.rate(Rating.EASY)
    before, rows = workspace.store.schedules.get(first.card.id), workspace.store.log.length()
    assert item is not None and item.card.id == first.card.id and not drill.is_recorded
    assert drill.refresh().is_repeat and drill.progress.learning == drill.progress.remaining == 1
    answers = drill.answers
    drill.rate(Rating.AGAIN)
    assert drill.next() is None and drill.answers == answers and drill.progress.remaining == 0
    assert drill.undo().is_repeat and drill.ask_again()
    drill.rate(Rating.GOOD)
    again = drill.next()
    assert again is not None and again.is_repeat
    drill.bury()
    assert drill.next() is None and workspace.store.log.length() == rows + 1
    assert workspace.store.schedules.get(first.card.id) == before


def test_a_limit_counts_answers(workspace: Workspace) -> None:
    drill = ReviewSession(workspace, limit=2)
    assert drill.progress.remaining == 2
    for _ in range(2):
        drill.next()
        drill.rate(Rating.EASY)
    assert drill.next() is None and drill.progress.remaining == 0
    drill.undo()
    assert drill.next() is not None


def test_a_topic_is_kept_to_and_an_unknown_one_refused(workspace: Workspace) -> None:
    drill = ReviewSession(workspace, topic="kv")
    while item := drill.next():
        assert item.card.topic == "kv"
        drill.rate(Rating.EASY)
    with pytest.raises(NotFound):
        ReviewSession(workspace, topic="nope")


def test_suspended_and_buried_cards_leave_the_sitting(workspace: Workspace) -> None:
    drill, seen = ReviewSession(workspace), set()
    for settle in (drill.suspend, drill.bury):
        item = drill.next()
        assert item is not None
        seen.add(item.card.id)
        settle()
    record.hold(workspace, RowKind.SUSPEND, "kv-03")
    while item := drill.next():
        assert item.card.id not in seen | {"kv-03"}
        drill.rate(Rating.EASY)
    assert len(drill.answers) == 3


def test_nothing_can_be_answered_when_nothing_is_asked(workspace: Workspace) -> None:
    drill = ReviewSession(workspace)
    for settle in (lambda: drill.rate(Rating.GOOD), drill.suspend, drill.bury):
        with pytest.raises(UsageError, match="there is no current card"):
            settle()


def test_what_was_ticked_and_the_time_since_it_was_asked_go_into_the_log(
    workspace: Workspace, moving_clock: Any
) -> None:
    drill = ReviewSession(workspace)
    drill.next()
    moving_clock.move(seconds=5)
    drill.refresh()
    answered = drill.rate(Rating.HARD, points=[0, 2])
    (row,) = workspace.store.log.of_subjects([answered.card])
    assert row.payload["points"] == [0, 2] and row.payload["elapsed_ms"] == 5000 and "correct" not in row.payload


def test_reviews_and_unseen_cards_topics_and_kinds_are_mixed(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    for card in ("att-01", "att-02", "kv-01"):
        record.answer(workspace, card, Rating.EASY, workspace.clock() - timedelta(days=20))
    drill, asked = ReviewSession(workspace), []
    while item := drill.next():
        asked.append((item.card.topic, item.card.kind, item.state))
        drill.rate(Rating.EASY)
    assert [topic for topic, _, _ in asked] == ["att", "kv"] * 3
    assert all(before[1] != after[1] for before, after in pairwise(asked))
    assert {state for _, _, state in asked[:2]} == {State.REVIEW, State.NEW}
