"""Compare the plain-number stability of forecasts with py-fsrs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import fsrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.memory.forecast import FIRST_RATINGS, PUBLISHED, StabilityGrowth

START = datetime(2026, 1, 1, tzinfo=UTC)
later_reviews = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 4)), max_size=8)


def test_the_published_weights_are_those_of_py_fsrs() -> None:
    assert tuple(fsrs.scheduler.DEFAULT_PARAMETERS) == PUBLISHED


@given(st.integers(2, 4), later_reviews)
def test_histories_without_lapses_steps_agree_with_py_fsrs(first: int, reviews: list[tuple[int, int]]) -> None:
    scheduler = fsrs.Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    card, _ = scheduler.review_card(fsrs.Card(card_id=0), fsrs.Rating(first), START)
    growth, at = StabilityGrowth(), START
    stability, difficulty = growth.weights[first - 1], growth.first_difficulty(first)
    assert (card.stability, card.difficulty) == (pytest.approx(stability), pytest.approx(difficulty))
    for gap_days, rating in reviews:
        at += timedelta(days=gap_days)
        card, _ = scheduler.review_card(card, fsrs.Rating(rating), at)
        if rating == 1:
            stability = growth.forgotten(stability, difficulty, growth.recall(stability, gap_days))
        else:
            stability = growth.rated(stability, difficulty, gap_days, rating)
        difficulty = growth.harder(difficulty, rating)
        assert card.stability == pytest.approx(stability, rel=1e-9)
        assert card.difficulty == pytest.approx(difficulty, rel=1e-9)


@given(st.floats(0.01, 500), st.floats(1, 10))
def test_a_forgotten_card_learned_again_the_same_day_is_what_py_fsrs_makes_of_it(
    stability: float, difficulty: float
) -> None:
    scheduler = fsrs.Scheduler(relearning_steps=(timedelta(minutes=10),), enable_fuzzing=False)
    card = fsrs.Card(card_id=0, state=fsrs.State.Review, stability=stability, difficulty=difficulty, last_review=START)
    at = START + timedelta(days=9)
    card, _ = scheduler.review_card(card, fsrs.Rating.Again, at)
    card, _ = scheduler.review_card(card, fsrs.Rating.Good, at + timedelta(minutes=10))
    assert card.stability == pytest.approx(StabilityGrowth().rated(stability, difficulty, 9, 1), rel=1e-9)


@given(st.floats(0.05, 300), st.floats(1, 10), st.integers(1, 90), st.floats(0, 1))
def test_the_expected_stability_lies_between_forgetting_and_recalling(
    stability: float, difficulty: float, elapsed_days: int, recall: float
) -> None:
    growth = StabilityGrowth()
    again = growth.rated(stability, difficulty, elapsed_days, 1)
    good = growth.rated(stability, difficulty, elapsed_days, 3)
    low, high = min(again, good), max(again, good)
    assert low * (1 - 1e-9) <= growth.expected(stability, difficulty, elapsed_days, recall) <= high * (1 + 1e-9)


def test_a_fresh_card_is_what_its_first_ratings_say() -> None:
    growth = StabilityGrowth()
    assert growth.fresh((0, 0, 1, 0)) == pytest.approx((growth.first(3), growth.first_difficulty(3)))
    assert growth.first(1) < growth.fresh(FIRST_RATINGS)[0] < growth.first(4)
