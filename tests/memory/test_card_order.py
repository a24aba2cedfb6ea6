from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from attncli.memory.card_order import Unseen, asked_order, asked_weight, introduction_order, spread, take_turns

lanes = st.lists(st.lists(st.integers(), max_size=6), max_size=5)


@given(lanes)
def test_taking_turns_keeps_everything_and_every_lane_s_order(lanes: list[list[int]]) -> None:
    tagged = [[(lane, n) for n, _ in enumerate(items)] for lane, items in enumerate(lanes)]
    mixed = take_turns(tagged)
    assert sorted(mixed) == sorted(item for lane in tagged for item in lane)
    for number, lane in enumerate(tagged):
        assert [item for item in mixed if item[0] == number] == lane


@given(st.integers(0, 30), st.integers(0, 30))
def test_spreading_keeps_both_orders_and_never_bunches(main: int, others: int) -> None:
    mixed = spread([("m", n) for n in range(main)], [("o", n) for n in range(others)])
    assert [item for item in mixed if item[0] == "m"] == [("m", n) for n in range(main)]
    assert [item for item in mixed if item[0] == "o"] == [("o", n) for n in range(others)]
    if main >= others > 0:
        kinds = "".join(kind for kind, _ in mixed)
        assert "oo" not in kinds


def test_core_cards_come_first_then_easier_ones_and_topics_take_turns() -> None:
    cards = [
        Unseen("a1", "a", False, "screen", 0),
        Unseen("a2", "a", True, "research", 1),
        Unseen("a3", "a", True, "screen", 2),
        Unseen("b1", "b", True, "onsite", 0),
        Unseen("b2", "b", False, "screen", 1),
    ]
    assert introduction_order(cards) == ["a3", "b1", "a2", "a1", "b2"]


def test_before_an_interview_what_is_asked_most_comes_first_whatever_its_topic() -> None:
    cards = [
        Unseen("a1", "a", True, "onsite", 0),
        Unseen("a2", "a", True, "onsite", 1),
        Unseen("b1", "b", True, "onsite", 0),
        Unseen("b2", "b", True, "screen", 1),
        Unseen("c1", "c", False, "research", 0),
        Unseen("c2", "c", False, "onsite", 1),
    ]
    assert asked_order(cards) == ["b2", "a1", "b1", "a2", "c2", "c1"]
    weights = [asked_weight(card.core, card.level) for card in cards]
    assert weights == [3, 3, 3, 4, 0.5, 1] and asked_weight(False, "unheard-of") == 1
