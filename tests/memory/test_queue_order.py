from __future__ import annotations

from itertools import pairwise
from random import Random

from hypothesis import example, given
from hypothesis import strategies as st

from attncli.domain.vocabulary import KINDS, LEVELS
from attncli.memory import queue_order
from attncli.memory.queue_order import LEARN_SECONDS, REVIEW_SECONDS, Traits, Unseen, fitting, mixed, usual_seconds

traits = st.lists(st.builds(Traits, st.sampled_from("aabcd"), st.sampled_from(["qa", "qa", "cloze"]), st.booleans()))
left = st.floats(-3600, 960 * 60)
due, took = st.integers(0, 500), st.floats(2, 300)


@given(st.integers(0, 30), st.integers(0, 30))
def test_spreading_keeps_both_orders_and_never_bunches(main: int, others: int) -> None:
    mixed = queue_order.spread([("m", n) for n in range(main)], [("o", n) for n in range(others)])
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


@given(unseen(), st.sampled_from(["", "any", *LEVELS]), st.randoms())
def test_every_card_comes_once_and_those_above_the_level_last(cards: list[Unseen], level: str, rng: Random) -> None:
    levels = {card.id: LEVELS.index(card.level) for card in cards}
    most = LEVELS.index(level) if level in LEVELS else len(LEVELS)
    for in_order in (queue_order.introduction_order, queue_order.asked_order):
        order = in_order(cards, level)
        assert sorted(order) == sorted(levels)
        above = [levels[id] > most for id in order]
        assert above == sorted(above)
        assert in_order(rng.sample(cards, len(cards)), level) == order, "it follows from the cards alone"


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
    of_a = [("a1", False, "screen", 0), ("a2", True, "research", 1), ("a3", True, "screen", 2)]
    cards = [Unseen(id, id[0], *told) for id, *told in (*of_a, ("b1", True, "onsite", 0), ("b2", False, "screen", 1))]
    assert queue_order.introduction_order(cards) == ["a3", "b1", "a2", "a1", "b2"]


def test_before_an_interview_what_is_asked_most_comes_first_whatever_its_topic() -> None:
    core = [("a1", True, "onsite", 0), ("a2", True, "onsite", 1), ("b1", True, "onsite", 0), ("b2", True, "screen", 1)]
    cards = [
        Unseen(id, id[0], *told) for id, *told in (*core, ("c1", False, "research", 0), ("c2", False, "onsite", 1))
    ]
    assert queue_order.asked_order(cards) == ["b2", "a1", "b1", "a2", "c2", "c1"]
    weights = [queue_order.asked_weight(card.core, card.level) for card in cards]
    assert weights == [3, 3, 3, 4, 0.5, 1] and queue_order.asked_weight(False, "unheard-of") == 1


def alternated(cards: list[Traits]) -> list[tuple[int, Traits]]:
    return queue_order.interleaved(list(enumerate(cards)), lambda card: card[1])


@given(traits)
def test_interleaving_splits_topics_wherever_possible_and_keeps_the_order_of_alike_cards(cards: list[Traits]) -> None:
    order = alternated(cards)
    assert sorted(order) == list(enumerate(cards)) and alternated(list(cards)) == order
    topics = [card.topic for _, card in order]
    repeats = [place for place in range(1, len(topics)) if topics[place] == topics[place - 1]]
    assert all(len(set(topics[place:])) == 1 for place in repeats)
    assert len(repeats) == max(0, 2 * max(map(topics.count, topics), default=0) - 1 - len(topics))
    for one in set(cards):
        places = [place for place, card in order if card == one]
        assert places == sorted(places)


def test_kinds_are_mixed_among_the_next_few_cards_that_are_as_new() -> None:
    review = [Traits(topic, "qa", False) for topic in "abcd"]
    cards = [*review, Traits("e", "cloze", False), Traits("f", "choice", True)]
    assert [card.topic for _, card in alternated(cards)] == ["a", "e", "b", "c", "d", "f"]
    far = [Traits(chr(ord("a") + n), "qa", False) for n in range(12)]
    assert [place for place, _ in alternated([*far, Traits("z", "cloze", False)])][:2] == [0, 1]


@given(st.floats(0, 1e6), st.floats(-1, 1e5))
@example(1.0, 2.225073858507203e-309)
def test_the_last_pass_is_as_long_as_the_seen_cards_take(seen_seconds: float, seconds_a_day: float) -> None:
    assert 1 <= queue_order.pass_days(seen_seconds, seconds_a_day) <= queue_order.LONGEST_PASS_DAYS
    assert [queue_order.pass_days(seconds, 600) for seconds in (0, 600, 601, 1800)] == [1, 1, 2, 3]


@given(left, due, took, took)
def test_what_fits_takes_no_more_than_is_left(seconds: float, due: int, learn: float, review: float) -> None:
    for waiting in (due, 0):
        reviews, new = fitting(seconds, waiting, learn, review)
        assert (reviews, new) == (0, 0) or reviews * review + new * learn <= seconds + 1e-6
        assert reviews == waiting or new == 0, "nothing is new where a review waits"


def test_without_a_log_a_card_takes_what_is_usual_and_a_log_of_its_own_is_believed_in_time() -> None:
    assert (usual_seconds([], LEARN_SECONDS), usual_seconds([], REVIEW_SECONDS)) == (LEARN_SECONDS, REVIEW_SECONDS)
    for waiting, per_review, fit in ((100, REVIEW_SECONDS, (40, 0)), (0, REVIEW_SECONDS, (0, 5)), (100, 30.0, (20, 0))):
        assert fitting(600, waiting, LEARN_SECONDS, per_review) == fit
    assert fitting(600 - 38 * REVIEW_SECONDS, 100, LEARN_SECONDS, REVIEW_SECONDS) == (2, 0)
    assert REVIEW_SECONDS < usual_seconds([50.0] * 100, REVIEW_SECONDS) < usual_seconds([50.0] * 400, REVIEW_SECONDS)
