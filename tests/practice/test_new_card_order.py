"""Order the bundled bank's new cards, also by the interview level."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from attncli.bank.loader import NOT_CARDS, load_file
from attncli.domain.vocabulary import LEVELS
from attncli.i18n import quoted
from attncli.memory.queue_order import Unseen, asked_order, asked_weight, introduction_order
from attncli.paths import bundled_quizbank
from attncli.practice.review import ReviewSession
from attncli.practice.workspace import Workspace, change_setting

Open = Callable[..., Workspace]
WINDOW = 10


def bundled() -> Iterator[Unseen]:
    for path in sorted(bundled_quizbank().glob("*.yaml")):
        for place, card in enumerate(() if path.name in NOT_CARDS else load_file(path).documents):
            yield Unseen(card["id"], card["topic"], bool(card.get("core")), card["level"], place, card["kind"])


@pytest.fixture(scope="module")
def cards() -> dict[str, Unseen]:
    return {card.id: card for card in bundled()}


def windows(order: list[str], cards: dict[str, Unseen]) -> Iterator[list[Unseen]]:
    for first in range(len(order) - WINDOW + 1):
        yield [cards[id] for id in order[first : first + WINDOW]]


def test_any_ten_new_cards_in_a_row_have_three_kinds_and_four_topics(cards: dict[str, Unseen]) -> None:
    for window in windows(introduction_order(cards.values()), cards):
        assert len({card.kind for card in window}) >= 3, window
        assert len({card.topic for card in window}) >= 4, window


@pytest.mark.parametrize("level", ["any", *LEVELS])
def test_so_have_those_of_the_first_weeks_whatever_the_level_and_before_an_interview(
    cards: dict[str, Unseen], level: str
) -> None:
    for order in (introduction_order(cards.values(), level), asked_order(cards.values(), level)):
        for window in windows(order[:300], cards):
            assert len({card.kind for card in window}) >= 3 and len({card.topic for card in window}) >= 4, window


@pytest.mark.parametrize("level", ["any", *LEVELS])
def test_what_is_asked_most_still_comes_early(cards: dict[str, Unseen], level: str) -> None:
    weights = [asked_weight(cards[id].core, cards[id].level, level) for id in introduction_order(cards.values(), level)]
    most = sum(sorted(weights, reverse=True)[:100])
    assert sum(weights[:100]) > 0.95 * most
    assert all(cards[id].core for id in introduction_order(cards.values(), level)[:100])


def new_cards(workspace: Workspace) -> list[str]:
    return [waiting.id for waiting in workspace.store.queue.unseen(workspace.moment(), 100)]


def test_the_level_orders_new_cards_at_once_and_in_the_next_sitting(open_workspace: Open) -> None:
    workspace = open_workspace()
    before = new_cards(workspace)
    level_of = {card.id: card.level for card in workspace.store.index.list_cards(None)}
    assert change_setting(workspace, "level", "screen")
    after = new_cards(workspace)
    above = [level_of[id] != "screen" for id in after]
    assert sorted(after) == sorted(before) and above == sorted(above)
    again = open_workspace(level="screen")
    assert new_cards(again) == after
    item = ReviewSession(again).next()
    assert item is not None and item.card.id == after[0]
    assert new_cards(open_workspace()) == before


def test_a_new_order_waits_while_the_database_cannot_be_written(
    open_workspace: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    from attncli.errors import StoreBusy

    workspace = open_workspace()

    def busy() -> None:
        raise StoreBusy(quoted("another attn is writing"))

    monkeypatch.setattr(workspace, "order_new_cards", busy)
    assert not change_setting(workspace, "level", "research")
    assert workspace.settings.level == "research"
    assert workspace.settings._replace(level="any") != workspace.settings
