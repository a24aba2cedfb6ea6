"""Steps are counted, and looked for among some cards, as they stand in the whole list of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from attncli.domain.log_row import Rating, RowKind
from attncli.practice import record
from attncli.practice.workspace import Workspace

Open = Callable[..., Workspace]


@pytest.mark.parametrize("seed", range(5))
def test_counted_limited_and_among_some(open_workspace: Open, moving_clock: object, seed: int) -> None:
    workspace, draw = open_workspace(f"steps-{seed}"), Random(seed)
    cards = workspace.store.index.card_ids()
    for card in draw.sample(cards, min(24, len(cards))):
        record.answer(workspace, card, draw.choice([Rating.AGAIN, Rating.HARD, Rating.GOOD, Rating.EASY]))
        moving_clock.move(minutes=draw.choice([0, 1, 7]))  # type: ignore[attr-defined]
        if draw.random() < 0.2:
            record.hold(workspace, draw.choice([RowKind.BURY, RowKind.SUSPEND]), card)
    queue, now = workspace.store.queue, workspace.moment()
    asked = {waiting.topic for waiting in queue.learning(replace(now, now=now.day_end))}
    seen = 0
    for when in (now, replace(now, now=now.day_end)):
        for topic in (None, *sorted(asked)):
            steps = queue.learning(when, topic)
            seen += len(steps)
            assert queue.count_steps(when, topic) == len(steps)
            assert steps == [one for one in queue.learning(when) if topic in (None, one.topic)]
            assert [queue.learning(when, topic, limit=n) for n in (1, 2, 5)] == [steps[:n] for n in (1, 2, 5)]
        some = draw.sample(cards, len(cards) // 2)
        due = {one.id for one in queue.learning(when)}
        assert queue.steps_among(some, when) == due & set(some)
        assert queue.steps_among([], when) == set()
    assert seen > 4
