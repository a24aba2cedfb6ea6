"""Must-know questions: chosen in drills, found by search, counted in the statistics."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from attncli.domain.log_row import Rating
from attncli.errors import NoCardMatches
from attncli.practice import record
from attncli.practice.challenges import narrowed, standings
from attncli.practice.queue import CardFilter, browse, draw_cards
from attncli.practice.stats import must_know, overview, progress
from attncli.practice.workspace import Workspace
from moved_clock import Clock

Open = Callable[..., Workspace]


def mark(bank: Path, id: str) -> None:
    """Make a card of the bank a must-know card."""
    file, entry = bank / f"{id.partition('-')[0]}.yaml", f"  - id: {id}\n"
    text = file.read_text(encoding="utf-8").replace(entry, f"{entry}    must_know: true\n    formula: x\n")
    file.write_text(text, encoding="utf-8")


@pytest.fixture
def marked(small_bank: Path, small_impl: Path, open_workspace: Open) -> Workspace:
    """Return a workspace with must-know cards att-02 and kv-01, and a must-know challenge."""
    for id in ("att-02", "kv-01"):
        mark(small_bank, id)
    challenge = small_impl / "basics" / "double" / "challenge.yaml"
    challenge.write_text("must_know: true\n" + challenge.read_text(encoding="utf-8"), encoding="utf-8")
    return open_workspace()


def test_a_drill_of_must_know_cards_has_no_others(marked: Workspace) -> None:
    drawn = draw_cards(marked, CardFilter(must_know=True), Random(0))
    assert {card.id for card in drawn} == {"att-02", "kv-01"}
    with pytest.raises(
        NoCardMatches, match=r"no card matches --kind debug --must-know; there are 1 without --must-know"
    ):
        draw_cards(marked, CardFilter(kind="debug", must_know=True), Random(0))


def test_search_has_a_filter_for_cards_and_challenges(marked: Workspace) -> None:
    assert [card.id for card in browse(marked, "is:must-know").cards] == ["att-02", "kv-01"]
    assert [found.challenge.id for found in narrowed(standings(marked), "is:must-know")] == ["double"]


def test_a_card_counts_as_known_while_it_is_likely_recalled(marked: Workspace, moving_clock: Clock) -> None:
    assert must_know(marked, marked.moment()).text.en == "0/2 cards · 0/1 challenges"
    record.answer(marked, "att-02", Rating.GOOD)
    record.answer(marked, "att-01", Rating.GOOD)
    assert progress(marked).must_know.recalled == overview(marked).must_know.recalled == 1
    moving_clock.now += timedelta(days=400)
    assert progress(marked).must_know.recalled == 0


def test_nothing_is_said_where_nothing_is_marked(open_workspace: Open) -> None:
    assert not progress(open_workspace()).must_know.text


@pytest.mark.parametrize(("id", "first"), [("att-02", "att"), ("kv-01", "kv")])
def test_the_topic_of_a_must_know_card_comes_first_on_home(
    small_bank: Path, open_workspace: Open, id: str, first: str
) -> None:
    mark(small_bank, id)
    topics = list(overview(open_workspace()).topics)
    assert topics[0] == first and len(topics) == 2
