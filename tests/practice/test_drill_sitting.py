from __future__ import annotations

from random import Random

import pytest

from attncli.domain.log_row import Rating, RowKind
from attncli.errors import NoCardMatches, UsageError
from attncli.practice import record
from attncli.practice.queue import CardFilter
from attncli.practice.review import DrillSession, SessionProgress
from attncli.practice.stats import progress
from attncli.practice.workspace import Workspace


def drill_of(workspace: Workspace, **card_filter: object) -> DrillSession:
    return DrillSession(workspace, CardFilter(**card_filter), Random(3))  # type: ignore[arg-type]


def asked(drill: DrillSession, rating: Rating) -> list[str]:
    found = []
    while item := drill.next():
        found.append(item.card.id)
        drill.rate(rating)
    return found


def test_each_card_is_asked_once_due_or_not_and_past_the_limit_of_new_ones(workspace: Workspace) -> None:
    record.answer(workspace, "kv-01", Rating.EASY)
    drill = drill_of(workspace)
    assert drill.progress == SessionProgress(0, 5, 0, 1)
    assert sorted(asked(drill, Rating.AGAIN)) == ["att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03"]
    assert drill.progress == SessionProgress(6, 0, 0, 0) and drill.next() is None
    assert len(workspace.store.log.of_kind(RowKind.REVIEW)) == 7


def test_an_answer_is_the_review_that_it_would_be_elsewhere(workspace: Workspace, moving_clock: object) -> None:
    drill = drill_of(workspace, topic="att", kind="qa")
    item = drill.next()
    assert item is not None
    moving_clock.move(seconds=9)  # type: ignore[attr-defined]
    drill.rate(Rating.HARD, points=[1])
    (row,) = workspace.store.log.of_kind(RowKind.REVIEW)
    assert row.payload["rating"] == 2 and row.payload["points"] == [1] and row.payload["elapsed_ms"] == 9000
    schedule = workspace.store.schedules.get("att-01")
    assert schedule is not None and schedule.interval_days == item.previews[Rating.HARD].interval_days
    assert drill.answers[0].due_at == schedule.due_at


def test_a_cram_records_nothing_and_can_be_taken_back_in_the_sitting(workspace: Workspace) -> None:
    record.answer(workspace, "kv-01", Rating.EASY)
    before, length = progress(workspace), workspace.store.log.length()
    drill = drill_of(workspace, topic="kv", cram=True)
    first = drill.next()
    assert first is not None
    drill.rate(Rating.AGAIN, points=[0])
    second = drill.next()
    assert second is not None and second.card.id != first.card.id
    assert drill.last_done is RowKind.REVIEW and drill.undo().card.id == first.card.id
    assert drill.progress.answered == 0 and drill.progress.remaining == 3
    with pytest.raises(UsageError, match="there is no answer in this session"):
        drill.undo()
    assert len(asked(drill, Rating.GOOD)) == 3
    assert [answer.due_at for answer in drill.answers] == [None] * 3
    assert workspace.store.log.length() == length and progress(workspace) == before


def test_undo_of_a_recorded_answer_is_in_the_log(workspace: Workspace) -> None:
    drill = drill_of(workspace, topic="kv")
    first = drill.next()
    assert first is not None
    drill.rate(Rating.GOOD)
    second = drill.next()
    assert drill.undo().card.id == first.card.id and len(workspace.store.log.of_kind(RowKind.UNDO)) == 1
    drill.rate(Rating.GOOD)
    assert drill.next() is not None and second is not None and drill.current is not None
    assert drill.current.card.id == second.card.id


def test_what_is_put_away_meanwhile_is_not_asked(workspace: Workspace) -> None:
    drill = drill_of(workspace, topic="kv", cram=True)
    first = drill.next()
    assert first is not None
    drill.suspend()
    assert workspace.store.schedules.hold(first.card.id)[0], "a cram puts away for good as well"
    for other in {"kv-01", "kv-02", "kv-03"} - {first.card.id}:
        record.hold(workspace, RowKind.BURY, other)
    assert drill.next() is None


def test_a_drill_of_nothing_is_refused(workspace: Workspace) -> None:
    with pytest.raises(NoCardMatches, match="--weak"):
        drill_of(workspace, weak=True)
