"""A session's counts change with the learner's acts, and never with the clock alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.domain.log_row import Rating
from attncli.practice.queue import CardFilter
from attncli.practice.review import DrillSession, ReviewSession, SessionProgress
from attncli.practice.workspace import Workspace

Open = Callable[..., Workspace]
STEPS = st.sampled_from(["answer", "answer", "answer", "bury", "suspend", "undo"])
ACTS = st.lists(st.tuples(STEPS, st.sampled_from(Rating), st.integers(0, 30)), min_size=1, max_size=25)


def waiting(drill: ReviewSession) -> tuple[int, int, int]:
    left = drill.progress
    return left.new, left.learning, left.review


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=ACTS, slow=st.booleans())
def test_all_cards_stay_as_many_and_time_alone_moves_nothing(
    open_workspace: Open,
    tmp_path_factory: pytest.TempPathFactory,
    moving_clock: object,
    acts: list[tuple[str, Rating, int]],
    slow: bool,
) -> None:
    steps = {"learning_steps": (timedelta(minutes=25), timedelta(hours=2))} if slow else {}
    began = moving_clock.now  # type: ignore[attr-defined]
    workspace = open_workspace(str(tmp_path_factory.mktemp("counts")), **steps)
    drill = ReviewSession(workspace)
    total = drill.done_of_all[1]
    try:
        for act, rating, minutes in acts:
            if drill.next() is None:
                break
            before = waiting(drill)
            moving_clock.move(minutes=minutes)  # type: ignore[attr-defined]
            assert waiting(drill) == before and drill.done_of_all[1] == total
            _do(drill, act, rating)
            drill.next()
            moved = [now - then for now, then in zip(waiting(drill), before, strict=True)]
            assert all(abs(change) <= 1 for change in moved) or act == "undo"
            assert drill.done_of_all[1] == total
    finally:
        moving_clock.now = began  # type: ignore[attr-defined]


def _do(drill: ReviewSession, act: str, rating: Rating) -> None:
    if act == "undo":
        if drill.last_done is not None:
            drill.undo()
    elif act == "answer":
        drill.rate(rating)
    else:
        getattr(drill, act)()


def test_a_card_is_learning_from_its_first_answer_to_the_end_of_its_steps(workspace: Workspace) -> None:
    drill = ReviewSession(workspace, topic="att")
    assert waiting(drill) == (3, 0, 0) and drill.done_of_all == (0, 3)
    drill.next()
    drill.rate(Rating.AGAIN)
    assert waiting(drill) == (2, 1, 0) and drill.done_of_all == (1, 3)
    drill.next()
    drill.rate(Rating.EASY)
    assert waiting(drill) == (1, 1, 0) and drill.done_of_all == (2, 3)


def test_a_step_that_comes_hours_later_is_counted_until_the_sitting_is_over(open_workspace: Open) -> None:
    workspace = open_workspace(learning_steps=(timedelta(hours=5),))
    drill = ReviewSession(workspace, topic="att")
    while drill.next() is not None:
        drill.rate(Rating.GOOD if drill.answers else Rating.AGAIN)
    assert drill.progress == SessionProgress(3, 0, 1, 0) and drill.done_of_all == (3, 3)


def test_with_a_limit_answers_are_counted(workspace: Workspace) -> None:
    drill = ReviewSession(workspace, limit=2)
    assert drill.done_of_all == (0, 2)
    drill.next()
    drill.rate(Rating.AGAIN)
    assert drill.done_of_all == (1, 2)


def test_in_a_drill_each_card_is_asked_once(workspace: Workspace) -> None:
    drill = DrillSession(workspace, CardFilter(topic="att", cram=True), Random(1))
    total = drill.done_of_all[1]
    drill.next()
    drill.rate(Rating.AGAIN)
    assert drill.done_of_all == (1, total)
