"""Review sessions and drills: which cards come, what an answer records, undo, and counts that hold still."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from attncli.domain.log_row import Rating, RowKind, State
from attncli.errors import NoCardMatches, NotFound, Outdated, UsageError
from attncli.practice import record
from attncli.practice.queue import CardFilter
from attncli.practice.review import DrillSession, ReviewSession, SessionItem, SessionProgress
from attncli.practice.stats import progress
from attncli.practice.workspace import Workspace
from moved_clock import Clock

from .conftest import Open

ALL = ["att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03"]
STEPS = st.sampled_from(["answer", "answer", "answer", "bury", "suspend", "undo"])
ACTS = st.lists(st.tuples(STEPS, st.sampled_from(Rating), st.integers(0, 30)), min_size=1, max_size=25)


def ask(drill: ReviewSession) -> SessionItem:
    item = drill.next()
    assert item is not None
    return item


def asked(drill: ReviewSession, rating: Rating = Rating.EASY) -> list[str]:
    """Answer all that is left; return the cards in order."""
    found = []
    while item := drill.next():
        found.append(item.card.id)
        drill.rate(rating)
    return found


def drill_of(workspace: Workspace, **card_filter: Any) -> DrillSession:
    return DrillSession(workspace, CardFilter(**card_filter), Random(3))


def waiting(drill: ReviewSession) -> tuple[int, int, int]:
    return drill.progress.new, drill.progress.learning, drill.progress.review


def test_a_sitting_asks_everything_once_and_ends(workspace: Workspace, open_workspace: Open) -> None:
    drill, cards = ReviewSession(workspace), list[str]()
    while item := drill.next():
        cards.append(item.card.id)
        drill.rate(Rating.EASY)
        assert open_workspace().store.log.length() == len(cards), "on disk before the next card"
    assert sorted(cards) == ALL and cards[:2] == ["att-01", "kv-01"], "core cards first, topics take turns"
    assert drill.progress == SessionProgress(answered=6, new=0, learning=0, review=0)
    for settle in (lambda: drill.rate(Rating.GOOD), drill.suspend, drill.bury):
        with pytest.raises(UsageError, match="there is no current card"):
            settle()


def test_a_step_comes_back_and_first_of_all_once_it_is_due(workspace: Workspace, moving_clock: Clock) -> None:
    drill = ReviewSession(workspace, topic="att")
    first = ask(drill)
    assert first is drill.next()
    drill.rate(Rating.AGAIN)
    for _ in range(2):
        assert ask(drill).card.id != first.card.id
        drill.rate(Rating.EASY)
    again = ask(drill)
    assert again.card.id == first.card.id and again.state is State.LEARNING
    other = ReviewSession(workspace)
    moving_clock.move(minutes=2)
    assert ask(other).card.id == first.card.id, "before the unseen cards"
    assert ask(ReviewSession(workspace, topic="kv")).card.topic == "kv", "and of the topic alone"


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    start=st.datetimes(datetime(2026, 6, 12), datetime(2026, 6, 13), timezones=st.just(UTC)),
    answers=st.lists(st.tuples(st.sampled_from(Rating), st.integers(0, 40)), min_size=1, max_size=12),
)
@example(start=datetime(2026, 6, 12, 3, 50, tzinfo=UTC), answers=[(Rating.EASY, 0), (Rating.EASY, 20)])
def test_buttons_show_what_answering_applies(
    fresh: Open, moving_clock: Clock, start: datetime, answers: list[tuple[Rating, int]]
) -> None:
    moving_clock.now = start
    workspace = fresh()
    drill = ReviewSession(workspace)
    for rating, minutes in answers:
        if (item := drill.next()) is None:
            break
        shown, length = item.interval(rating), workspace.store.log.length()
        moving_clock.move(minutes=minutes)
        try:
            schedule = drill.rate(rating).schedule
        except Outdated:
            assert workspace.store.log.length() == length
            assert drill.current is not None and drill.current is drill.next() is not item
            assert drill.current.interval(rating) != shown
            shown = drill.current.interval(rating)
            schedule = drill.rate(rating).schedule
        assert timedelta(days=schedule.interval_days) == shown == schedule.due_at - schedule.reviewed_at


def test_a_button_that_says_too_little_by_now_is_refused(open_workspace: Open, moving_clock: Clock) -> None:
    workspace = open_workspace(fuzz=False)
    for card in ("att-01", "att-02", "att-03"):
        record.answer(workspace, card, Rating.EASY, workspace.clock() - timedelta(days=20))
    drill = ReviewSession(workspace, topic="att")
    item = ask(drill)
    moving_clock.move(days=10)
    with pytest.raises(Outdated, match="the intervals of card att-01 have changed"):
        drill.rate(Rating.GOOD)
    assert workspace.store.log.length() == 3
    anew = drill.current
    assert anew is not None and anew.interval(Rating.GOOD) > item.interval(Rating.GOOD)
    assert timedelta(days=drill.rate(Rating.GOOD).schedule.interval_days) == anew.interval(Rating.GOOD)


def test_a_card_without_a_bank_is_left_out(workspace: Workspace) -> None:
    drill = ReviewSession(workspace)
    ask(drill)
    with workspace.store.transaction():
        workspace.store.connection.execute("DELETE FROM card WHERE id <> 'kv-03'")
    with pytest.raises(NotFound):
        drill.rate(Rating.GOOD)
    drill.drop()
    assert ask(drill).card.id == "kv-03"


def test_what_is_put_away_leaves_the_sitting_and_can_be_taken_back(workspace: Workspace, fresh: Open) -> None:
    elsewhere = fresh()
    drill, put_away = ReviewSession(elsewhere), {"kv-03"}
    for settle in (drill.suspend, drill.bury):
        put_away.add(ask(drill).card.id)
        settle()
    record.hold(elsewhere, RowKind.SUSPEND, "kv-03")
    assert set(asked(drill)) == {*ALL} - put_away and len(drill.answers) == 3
    drill, cards = ReviewSession(workspace), list[str]()
    for settle in (drill.suspend, lambda: drill.rate(Rating.EASY), drill.bury):
        cards.append(ask(drill).card.id)
        settle()
    for id in reversed(cards):
        assert drill.undo().card.id == id
        assert workspace.store.schedules.hold(id) == (False, 0)
    assert drill.answers == () and drill.last_done is None


def test_undo_asks_the_card_again_and_keeps_the_one_that_was_asked_in_a_drill_too(workspace: Workspace) -> None:
    drill = ReviewSession(workspace)
    first = ask(drill)
    drill.rate(Rating.EASY)
    second, before = ask(drill), drill.progress
    assert drill.undo().card.id == first.card.id
    assert drill.progress == SessionProgress(0, before.new + 1, 0, 0)
    drill.rate(Rating.EASY)
    assert ask(drill).card.id == second.card.id
    drill.undo()
    with pytest.raises(UsageError, match="there is no answer in this session"):
        drill.undo()
    before_drill, drill = len(workspace.store.log.of_kind(RowKind.UNDO)), drill_of(workspace, topic="kv")
    first = ask(drill)
    drill.rate(Rating.GOOD)
    second = ask(drill)
    assert drill.undo().card.id == first.card.id
    assert len(workspace.store.log.of_kind(RowKind.UNDO)) == before_drill + 1
    drill.rate(Rating.GOOD)
    assert ask(drill).card.id == second.card.id


@pytest.mark.parametrize("limit", [None, 1])
def test_a_card_to_ask_again_comes_at_the_end_and_changes_nothing(workspace: Workspace, limit: int | None) -> None:
    drill = ReviewSession(workspace, "kv", limit)
    first = ask(drill)
    assert [drill.ask_again() for _ in range(3)] == [True, False, True]
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
    assert ask(drill).is_repeat
    drill.bury()
    assert drill.next() is None and workspace.store.log.length() == rows + 1
    assert workspace.store.schedules.get(first.card.id) == before


def test_a_limit_counts_answers(workspace: Workspace) -> None:
    drill = ReviewSession(workspace, limit=2)
    assert drill.progress.remaining == 2 and drill.done_of_all == (0, 2)
    ask(drill)
    drill.rate(Rating.AGAIN)
    assert drill.done_of_all == (1, 2)
    ask(drill)
    drill.rate(Rating.EASY)
    assert drill.next() is None and drill.progress.remaining == 0
    drill.undo()
    assert drill.next() is not None


def test_what_was_ticked_and_the_time_go_into_the_log_in_a_drill_too(fresh: Open, moving_clock: Clock) -> None:
    for start in (ReviewSession, lambda workspace: drill_of(workspace, topic="att", kind="qa")):
        workspace = fresh()
        drill = start(workspace)
        item = ask(drill)
        moving_clock.move(seconds=5)
        drill.refresh()
        drill.rate(Rating.HARD, points=[0, 2])
        (row,) = workspace.store.log.of_kind(RowKind.REVIEW)
        assert row.subject == "att-01" and row.payload["rating"] == 2 and row.payload["points"] == [0, 2]
        assert row.payload["elapsed_ms"] == 5000 and "correct" not in row.payload
        schedule = workspace.store.schedules.get("att-01")
        assert schedule is not None and schedule.interval_days == item.previews[Rating.HARD].interval_days
        assert drill.answers[0].due_at == schedule.due_at


def test_reviews_and_unseen_cards_topics_and_kinds_are_mixed(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    for card in ("att-01", "att-02", "kv-01"):
        record.answer(workspace, card, Rating.EASY, workspace.clock() - timedelta(days=20))
    drill, found = ReviewSession(workspace), []
    while item := drill.next():
        found.append((item.card.topic, item.card.kind, item.state))
        drill.rate(Rating.EASY)
    assert [topic for topic, _, _ in found] == ["att", "kv"] * 3
    assert all(before[1] != after[1] for before, after in pairwise(found))
    assert {state for _, _, state in found[:2]} == {State.REVIEW, State.NEW}


def test_a_drill_asks_each_card_once_due_or_not_and_past_the_limit_of_new_ones(workspace: Workspace) -> None:
    record.answer(workspace, "kv-01", Rating.EASY)
    drill = drill_of(workspace)
    assert drill.progress == SessionProgress(0, 5, 0, 1)
    assert sorted(asked(drill, Rating.AGAIN)) == ALL
    assert drill.progress == SessionProgress(6, 0, 0, 0) and drill.next() is None
    assert len(workspace.store.log.of_kind(RowKind.REVIEW)) == 7


def test_a_cram_records_nothing_and_can_be_taken_back_in_the_sitting(workspace: Workspace) -> None:
    record.answer(workspace, "kv-01", Rating.EASY)
    before, length = progress(workspace), workspace.store.log.length()
    drill = drill_of(workspace, topic="kv", cram=True)
    first = ask(drill)
    drill.rate(Rating.AGAIN, points=[0])
    assert drill.done_of_all == (1, 3), "no card comes twice"
    assert ask(drill).card.id != first.card.id
    assert drill.last_done is RowKind.REVIEW and drill.undo().card.id == first.card.id
    assert drill.progress.answered == 0 and drill.progress.remaining == 3
    with pytest.raises(UsageError, match="there is no answer in this session"):
        drill.undo()
    assert len(asked(drill, Rating.GOOD)) == 3
    assert [answer.due_at for answer in drill.answers] == [None] * 3
    assert workspace.store.log.length() == length and progress(workspace) == before


def test_what_is_put_away_meanwhile_is_not_asked_in_a_drill(workspace: Workspace) -> None:
    drill = drill_of(workspace, topic="kv", cram=True)
    first = ask(drill).card.id
    drill.suspend()
    assert workspace.store.schedules.hold(first)[0], "a cram puts away for good as well"
    for other in {"kv-01", "kv-02", "kv-03"} - {first}:
        record.hold(workspace, RowKind.BURY, other)
    assert drill.next() is None
    with pytest.raises(NoCardMatches, match="--weak"):
        drill_of(workspace, weak=True)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=ACTS, slow=st.booleans())
def test_all_cards_stay_as_many_and_time_alone_moves_nothing(
    fresh: Open, moving_clock: Clock, acts: list[tuple[str, Rating, int]], slow: bool
) -> None:
    steps = {"learning_steps": (timedelta(minutes=25), timedelta(hours=2))} if slow else {}
    moving_clock.now = datetime(2026, 6, 12, 9, tzinfo=UTC)
    drill = ReviewSession(fresh(**steps))
    total = drill.done_of_all[1]
    for act, rating, minutes in acts:
        if drill.next() is None:
            break
        before = waiting(drill)
        moving_clock.move(minutes=minutes)
        assert waiting(drill) == before and drill.done_of_all[1] == total
        if act == "answer":
            drill.rate(rating)
        elif act != "undo":
            getattr(drill, act)()
        elif drill.last_done is not None:
            drill.undo()
        drill.next()
        moved = [now - then for now, then in zip(waiting(drill), before, strict=True)]
        assert all(abs(change) <= 1 for change in moved) or act == "undo"
        assert drill.done_of_all[1] == total


def test_a_card_is_learning_from_its_first_answer_to_the_end_of_its_steps(open_workspace: Open) -> None:
    drill = ReviewSession(open_workspace(), topic="att")
    assert waiting(drill) == (3, 0, 0) and drill.done_of_all == (0, 3)
    for rating, left, done in ((Rating.AGAIN, (2, 1, 0), 1), (Rating.EASY, (1, 1, 0), 2)):
        ask(drill)
        drill.rate(rating)
        assert waiting(drill) == left and drill.done_of_all == (done, 3)
    slow = ReviewSession(open_workspace("slow", learning_steps=(timedelta(hours=5),)), topic="att")
    while slow.next() is not None:
        slow.rate(Rating.GOOD if slow.answers else Rating.AGAIN)
    assert slow.progress == SessionProgress(3, 0, 1, 0) and slow.done_of_all == (3, 3), "a step hours later counts"
