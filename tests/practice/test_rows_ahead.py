"""Reviews from the future are named until they are set aside or taken back."""

from __future__ import annotations

from datetime import UTC, datetime

from attncli.domain.log_row import Rating
from attncli.practice import record
from attncli.practice.record import take_back
from attncli.practice.sync import ahead_in_words
from attncli.practice.workspace import Workspace
from moved_clock import Clock

FUTURE = datetime(2100, 1, 1, 10, tzinfo=UTC)


def test_rows_from_the_future_are_told_and_no_longer_once_they_are_set_aside(
    workspace: Workspace, moving_clock: Clock
) -> None:
    now = workspace.clock()
    assert ahead_in_words(workspace) == []
    moving_clock.now = FUTURE
    for card in ("att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03"):
        record.answer(workspace, card, Rating.EASY)
    moving_clock.now = now
    said = ahead_in_words(workspace)
    assert "the review of kv-03 is stamped 2100-01-01 10:00Z" in said[0] and said[5] == "more of them: 1"
    assert "attn undo" in said[6]
    take_back(workspace)
    record.answer(workspace, "att-01", Rating.GOOD)
    assert len(ahead_in_words(workspace)) == 5
