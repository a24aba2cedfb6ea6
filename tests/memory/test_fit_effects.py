from __future__ import annotations

from attncli.domain.log_row import Rating
from attncli.memory.optimizer import MOST_CARDS, first_intervals, workload
from known_memories import FIRST_DAY, LONG_MEMORY, PUBLISHED, reviews_of_a_learner

from .conftest import policy

TODAY = FIRST_DAY + 180
PUBLISHED_POLICY, LONG_POLICY = policy(fuzz=False), policy(fuzz=False, parameters=LONG_MEMORY)
CARDS = [(f"card-{n}", history) for n, history in enumerate(reviews_of_a_learner(PUBLISHED, 1, cards=400))]


def test_first_intervals_are_those_of_a_new_card_without_steps() -> None:
    assert list(first_intervals(PUBLISHED_POLICY).values()) == [1, 1, 2, 8]
    assert list(first_intervals(LONG_POLICY).values()) == [2, 6, 15, 40]
    assert list(first_intervals(LONG_POLICY)) == list(Rating)


def test_who_is_scheduled_by_their_own_memory_recalls_what_was_asked_for() -> None:
    for wished in (0.85, 0.95):
        own = policy(fuzz=False, desired_retention=wished)
        recall = workload(CARDS, TODAY, own, own).recall
        assert recall is not None and abs(recall - wished) < 0.03


def test_a_long_memory_under_short_intervals_costs_more_and_recalls_more() -> None:
    cards = [(card, history[:2]) for card, history in CARDS]
    today = FIRST_DAY + 30
    short, long = (workload(cards, today, shown, LONG_POLICY) for shown in (PUBLISHED_POLICY, LONG_POLICY))
    assert short.reviews_a_day > 1.5 * long.reviews_a_day
    assert short.recall is not None and long.recall is not None and short.recall > long.recall


def test_many_cards_are_stood_for_by_some() -> None:
    many = [(f"{card}-{copy}", history) for copy in range(5) for card, history in CARDS]
    assert len(many) > MOST_CARDS
    one, all_of_them = (workload(cards, TODAY, PUBLISHED_POLICY, PUBLISHED_POLICY) for cards in (CARDS, many))
    assert abs(all_of_them.reviews_a_day / (5 * one.reviews_a_day) - 1) < 0.2


def test_no_cards_ask_for_nothing() -> None:
    none = workload([], TODAY, PUBLISHED_POLICY, PUBLISHED_POLICY)
    assert (none.reviews_a_day, none.recall) == (0.0, None)
