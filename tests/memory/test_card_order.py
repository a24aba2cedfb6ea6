from __future__ import annotations

from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.vocabulary import KINDS, LEVELS
from attncli.memory.queue_order import (
    Traits,
    Unseen,
    asked_order,
    asked_weight,
    interleaved,
    introduction_order,
    mixed,
    spread,
)


@given(st.integers(0, 30), st.integers(0, 30))
def test_spreading_keeps_both_orders_and_never_bunches(main: int, others: int) -> None:
    mixed = spread([("m", n) for n in range(main)], [("o", n) for n in range(others)])
    assert [item for item in mixed if item[0] == "m"] == [("m", n) for n in range(main)]
    assert [item for item in mixed if item[0] == "o"] == [("o", n) for n in range(others)]
    if main >= others > 0:
        kinds = "".join(kind for kind, _ in mixed)
        assert "oo" not in kinds


@st.composite
def unseen(draw: st.DrawFn) -> list[Unseen]:
    entry = st.tuples(st.sampled_from("abcd"), st.booleans(), st.sampled_from(LEVELS), st.sampled_from(KINDS))
    entries = draw(st.lists(entry, max_size=40))
    return [Unseen(f"{n:02}", topic, core, level, n, kind) for n, (topic, core, level, kind) in enumerate(entries)]


@given(unseen(), st.sampled_from(["", "any", *LEVELS]))
def test_every_card_comes_once_and_none_above_the_level_before_one_that_is_not(cards: list[Unseen], level: str) -> None:
    levels = {card.id: LEVELS.index(card.level) for card in cards}
    most = LEVELS.index(level) if level in LEVELS else len(LEVELS)
    for order in (introduction_order(cards, level), asked_order(cards, level)):
        assert sorted(order) == sorted(levels)
        above = [levels[id] > most for id in order]
        assert above == sorted(above)


@given(unseen(), st.sampled_from(["", *LEVELS]), st.randoms())
def test_the_order_follows_from_the_cards_alone(cards: list[Unseen], level: str, rng: Random) -> None:
    shuffled = rng.sample(cards, len(cards))
    assert introduction_order(shuffled, level) == introduction_order(cards, level)
    assert asked_order(shuffled, level) == asked_order(cards, level)


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 30))
def test_no_kind_waits_for_another_to_end(questions: int, numbers: int, choices: int) -> None:
    counts = {"qa": questions, "numeric": numbers, "choice": choices}
    cards = [Unseen(f"{kind}{n}", "a", True, "screen", n, kind) for kind in counts for n in range(counts[kind])]
    kinds = [card.kind for card in mixed(cards)]
    for kind, count in counts.items():
        places = [place for place, found in enumerate(kinds) if found == kind]
        gaps = [later - earlier for earlier, later in pairwise(places)]
        assert max([places[0] + 1, len(kinds) - places[-1], *gaps]) <= 2 * len(kinds) / count + 2


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


traits = st.lists(st.builds(Traits, st.sampled_from("aabcd"), st.sampled_from(["qa", "qa", "cloze"]), st.booleans()))


def alternated(cards: list[Traits]) -> list[tuple[int, Traits]]:
    return interleaved(list(enumerate(cards)), lambda card: card[1])


@given(traits)
def test_interleaving_loses_nothing_and_says_the_same_twice(cards: list[Traits]) -> None:
    assert sorted(alternated(cards)) == list(enumerate(cards))
    assert alternated(cards) == alternated(list(cards))


@given(traits)
def test_no_two_cards_of_a_topic_in_a_row_where_another_is_left(cards: list[Traits]) -> None:
    order = [card for _, card in alternated(cards)]
    for place in range(1, len(order)):
        if order[place].topic == order[place - 1].topic:
            assert {card.topic for card in order[place:]} == {order[place].topic}


@given(traits)
def test_topics_are_split_whenever_that_is_possible_at_all(cards: list[Traits]) -> None:
    order = [card.topic for _, card in alternated(cards)]
    repeats = sum(a == b for a, b in pairwise(order))
    most = max(map(order.count, order), default=0)
    assert repeats == max(0, 2 * most - 1 - len(order))


@given(traits)
def test_cards_of_one_topic_and_kind_keep_their_order(cards: list[Traits]) -> None:
    order = alternated(cards)
    for one in set(cards):
        places = [place for place, card in order if card == one]
        assert places == sorted(places)


def test_kinds_are_mixed_among_the_next_few_cards_that_are_as_new() -> None:
    review = [Traits(topic, "qa", False) for topic in "abcd"]
    cards = [*review, Traits("e", "cloze", False), Traits("f", "choice", True)]
    assert [card.topic for _, card in alternated(cards)] == ["a", "e", "b", "c", "d", "f"]
    far = [Traits(chr(ord("a") + n), "qa", False) for n in range(12)]
    assert [place for place, _ in alternated([*far, Traits("z", "cloze", False)])][:2] == [0, 1]
