"""Due steps of one topic keep the order of all due steps; none is suspended, buried or in review."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from attncli.domain.log_row import Rating, RowKind, State
from attncli.practice import record
from attncli.practice.workspace import Workspace

Open = Callable[..., Workspace]


@pytest.mark.parametrize("seed", range(5))
def test_steps_of_a_topic_are_those_of_all_topics(open_workspace: Open, moving_clock: object, seed: int) -> None:
    workspace, draw = open_workspace(f"steps-{seed}"), Random(seed)
    cards = workspace.store.index.card_ids()
    for card in draw.sample(cards, min(24, len(cards))):
        record.answer(workspace, card, draw.choice([Rating.AGAIN, Rating.HARD, Rating.GOOD, Rating.EASY]))
        moving_clock.move(minutes=draw.choice([0, 1, 7]))  # type: ignore[attr-defined]
        if draw.random() < 0.2:
            record.hold(workspace, draw.choice([RowKind.BURY, RowKind.SUSPEND]), card)
    queue, now = workspace.store.queue, workspace.moment()
    asked = {waiting.topic for waiting in queue.learning(now._replace(now=now.day_end))}
    seen = 0
    for when in (now, now._replace(now=now.day_end)):
        for topic in (None, *sorted(asked)):
            steps = queue.learning(when, topic)
            seen += len(steps)
            assert steps == [one for one in queue.learning(when) if topic in (None, one.topic)]
            dues = [workspace.store.schedules.get(one.id).due_at for one in steps]  # type: ignore[union-attr]
            assert dues == sorted(dues) and all(due <= when.now for due in dues)
        expected = {
            id
            for id, schedule in workspace.store.schedules.all()
            if schedule.state in (State.LEARNING, State.RELEARNING)
            and schedule.due_at <= when.now
            and workspace.store.schedules.hold(id) == (False, 0)
        }
        assert {one.id for one in queue.learning(when)} == expected
    assert seen > 4
