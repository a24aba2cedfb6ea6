"""Report reviews from the future until their time has come or they are undone."""

from __future__ import annotations

from datetime import UTC, datetime

from attncli.domain.log_row import Rating
from attncli.practice import record
from attncli.practice.record import take_back
from attncli.practice.sync import ahead_in_words
from attncli.practice.workspace import Workspace
from moved_clock import Clock

FUTURE = datetime(2100, 1, 1, 10, tzinfo=UTC)


def test_rows_from_the_future_are_named_until_they_are_taken_back(workspace: Workspace, moving_clock: Clock) -> None:
    now = workspace.clock()
    assert ahead_in_words(workspace) == []
    moving_clock.now = FUTURE
    for card in ("att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03"):
        record.answer(workspace, card, Rating.EASY)
    moving_clock.now = now
    said = ahead_in_words(workspace)
    assert "the review of kv-03 is dated 2100-01-01 10:00Z" in str(said[0]) and str(said[5]) == "1 more"
    assert str(said[6]) == "it counts from that time on; if this clock is wrong, set it"
    take_back(workspace)
    record.answer(workspace, "att-01", Rating.GOOD)
    assert len(ahead_in_words(workspace)) == 6
    moving_clock.now = FUTURE
    record.answer(workspace, "att-01", Rating.GOOD)
    assert ahead_in_words(workspace) == []
