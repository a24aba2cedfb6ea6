from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.domain.log_row import Rating, RowKind
from attncli.domain.vocabulary import KINDS, LEVELS, Kind, Level
from attncli.errors import NoCardMatches, NotFound, NothingFound
from attncli.practice import record
from attncli.practice.queue import CardFilter, draw_cards, matching_cards, without
from attncli.practice.workspace import Workspace

Open = Callable[..., Workspace]
ALL = ["att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03"]


def ids(workspace: Workspace, **card_filter: Any) -> list[str]:
    return [card.id for card in matching_cards(workspace, CardFilter(**card_filter))]


def test_every_condition_is_kept_to(workspace: Workspace) -> None:
    assert ids(workspace) == ALL
    assert ids(workspace, topic="KV") == ["kv-01", "kv-02", "kv-03"]
    assert ids(workspace, kind="debug") == ["kv-03"]
    assert ids(workspace, level="onsite") == ALL, "a level means up to it"
    assert ids(workspace, level="screen") == ["att-01", "att-02", "kv-01"]
    assert ids(workspace, topic="att", level="onsite", kind="cloze") == ["att-03"]
    assert ids(workspace, weak=True) == []
    with pytest.raises(NotFound, match="unknown topic nope"):
        ids(workspace, topic="nope")


def test_what_is_put_away_is_left_out(workspace: Workspace) -> None:
    record.hold(workspace, RowKind.SUSPEND, "att-01")
    record.hold(workspace, RowKind.BURY, "kv-02")
    assert ids(workspace) == ["att-02", "att-03", "kv-01", "kv-03"]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([None, "att", "kv"]),
    st.sampled_from([None, *KINDS]),
    st.sampled_from([None, *LEVELS]),
    st.integers(1, 9),
    st.integers(0, 99),
)
def test_a_draw_is_as_many_as_fit_each_once_the_same_for_a_seed(
    workspace: Workspace, topic: str | None, kind: Kind | None, level: Level | None, count: int, seed: int
) -> None:
    card_filter = CardFilter(topic, kind, level, count=count)
    fit = [card.id for card in matching_cards(workspace, card_filter)]
    if not fit:
        with pytest.raises(NoCardMatches):
            draw_cards(workspace, card_filter, Random(seed))
        return
    drawn = [card.id for card in draw_cards(workspace, card_filter, Random(seed))]
    assert len(drawn) == len(set(drawn)) == min(count, len(fit)) and set(drawn) <= set(fit)
    assert drawn == [card.id for card in draw_cards(workspace, card_filter, Random(seed))]


def test_a_card_that_lapses_often_is_weak(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    day = workspace.clock() - timedelta(days=400)
    for _ in range(3):
        for rating, days in ((Rating.EASY, 1), (Rating.EASY, 40), (Rating.AGAIN, 20)):
            record.answer(workspace, "kv-03", rating, day)
            day += timedelta(days=days)
    record.answer(workspace, "kv-03", Rating.EASY)
    schedule = workspace.store.schedules.get("kv-03")
    assert schedule is not None and schedule.lapses == 3
    assert ids(workspace, weak=True) == ["kv-03"]


def test_where_nothing_fits_the_error_says_what_to_drop(workspace: Workspace) -> None:
    card_filter = CardFilter("att", "debug", "onsite")
    assert without(workspace, card_filter) == {"topic": 1, "kind": 3}
    with pytest.raises(NothingFound) as nothing:
        draw_cards(workspace, card_filter, Random(1))
    assert str(nothing.value) == (
        "no card matches --topic att --kind debug --level onsite; there are 3 without --kind, 1 without --topic"
    )
    with pytest.raises(NoCardMatches, match="no card matches --topic att --kind debug --weak; drop several of these"):
        draw_cards(workspace, CardFilter("att", "debug", weak=True), Random(1))


def test_where_there_is_no_card_at_all_the_error_says_so(workspace: Workspace) -> None:
    for card in ALL:
        record.hold(workspace, RowKind.SUSPEND, card)
    with pytest.raises(NoCardMatches, match="there are no cards"):
        draw_cards(workspace, CardFilter(), Random(1))
