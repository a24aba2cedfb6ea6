"""Fit a learner's memory: keep a fit that predicts better, and refuse if there is too little data."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

import fsrs
import fsrs_rs_python
import pytest

from attncli.domain.log_row import Rating, fitted
from attncli.errors import EnvironmentFailure, NothingFound
from attncli.memory import optimizer
from attncli.memory.optimizer import (
    LEAST_GAIN,
    MOST_CARDS,
    NEEDED_REVIEWS,
    FitQuality,
    History,
    first_intervals,
    fit,
    workload,
)
from known_memories import FIRST_DAY, LONG_MEMORY, PUBLISHED, SHORT_MEMORY, reviews_of_a_learner

from .conftest import policy

TODAY = FIRST_DAY + 180
PUBLISHED_POLICY, LONG_POLICY = policy(fuzz=False), policy(fuzz=False, parameters=LONG_MEMORY)
CARDS = [(f"card-{n}", history) for n, history in enumerate(reviews_of_a_learner(PUBLISHED, 1, cards=400))]


def log_loss(weights: tuple[float, ...], histories: Sequence[History]) -> float:
    items = optimizer._items(fsrs_rs_python, histories)
    losses = optimizer._losses(fsrs_rs_python, weights, items)
    return sum(losses) / len(losses)


def replayed_loss(weights: tuple[float, ...], histories: Sequence[History]) -> float:
    """Compute the loss with py-fsrs, review by review."""
    scheduler = fsrs.Scheduler(weights, learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    losses = []
    for history in histories:
        card = fsrs.Card(card_id=1)
        for day, rating in history:
            at = datetime.fromordinal(day).replace(tzinfo=UTC)
            if card.last_review is not None and at > card.last_review:
                recall = scheduler.get_card_retrievability(card, at)
                losses.append(-math.log(recall if rating > 1 else 1 - recall))
            card, _ = scheduler.review_card(card, fsrs.Rating(rating), at)
    return sum(losses) / len(losses)


@pytest.mark.parametrize("truth", [LONG_MEMORY, SHORT_MEMORY], ids=["long", "short"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in (1, 3))])
def test_a_fit_finds_another_memory_and_is_kept(truth: tuple[float, ...], seed: int) -> None:
    found = fit(reviews_of_a_learner(truth, seed), ())
    later = reviews_of_a_learner(truth, seed + 1000)
    assert found.judged.is_better and found.judged.rmse_bins_after < found.judged.rmse_bins_before
    published, ours, best = (log_loss(weights, later) for weights in (PUBLISHED, found.parameters, truth))
    assert published - ours > 0.5 * (published - best) > 0


@pytest.mark.parametrize("learners", [3, pytest.param(8, marks=pytest.mark.full)])
def test_who_forgets_as_published_keeps_the_published_weights_mostly(learners: int) -> None:
    kept = [fit(reviews_of_a_learner(PUBLISHED, seed), ()).judged.is_better for seed in range(learners)]
    assert sum(kept) <= 1


def test_the_losses_are_those_of_py_fsrs() -> None:
    histories = reviews_of_a_learner(SHORT_MEMORY, 7, cards=60)
    for weights in (PUBLISHED, SHORT_MEMORY):
        assert log_loss(weights, histories) == pytest.approx(replayed_loss(weights, histories), rel=1e-4)


def test_too_few_reviews_and_a_missing_fitter_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    histories = [[(FIRST_DAY, 3), (FIRST_DAY, 3), (FIRST_DAY + 1, 3), (FIRST_DAY + 5, 1)]] * 10
    assert optimizer.telling_reviews(histories) == 20
    with pytest.raises(NothingFound, match=f"^only 20 reviews .* needs {NEEDED_REVIEWS};"):
        fit(histories, ())
    monkeypatch.setitem(sys.modules, "fsrs_rs_python", None)
    with pytest.raises(EnvironmentFailure, match=r"pip install 'attncli\[optimize\]'"):
        fit(reviews_of_a_learner(PUBLISHED, 1), ())


def test_a_fit_in_force_is_judged_by_what_came_after_it() -> None:
    histories = reviews_of_a_learner(LONG_MEMORY, 3)
    first = fit(histories, ())
    last_day = max(day for history in histories for day, _ in history)
    said = f"^only 0 .* since the last fit; another fit needs {optimizer.NEEDED_SINCE_FIT}"
    with pytest.raises(NothingFound, match=said):
        fit(histories, first.parameters, last_day)
    again = fit(histories, SHORT_MEMORY, last_day - 40)
    days = [(one[0], later[0]) for history in histories for one, later in pairwise(history)]
    after = sum(later > max(earlier, last_day - 40) for earlier, later in days)
    assert again.judged.held_back == after and again.judged.is_better


@pytest.mark.parametrize("rating", [1, 3, 4])
def test_weights_from_odd_logs_are_weights_that_fsrs_takes(rating: int) -> None:
    histories = [[(FIRST_DAY + n, rating), (FIRST_DAY + n + 5, rating)] for n in range(NEEDED_REVIEWS)]
    found = fit(histories, ())
    assert fitted({"parameters": list(found.parameters)}) == found.parameters
    fsrs.Scheduler(parameters=found.parameters)


def test_where_the_fitter_finds_nothing_the_published_weights_stay() -> None:
    items = optimizer._items(fsrs_rs_python, [[(FIRST_DAY, 3), (FIRST_DAY + 5, 3), (FIRST_DAY + 20, 1)]] * 99)
    longer = [item for item in items if item.elapsed_days == 15]
    assert optimizer._fitted(fsrs_rs_python, longer) == PUBLISHED
    far_apart = [[(FIRST_DAY, 3), (FIRST_DAY + 60_000, 3), (FIRST_DAY + 61_000, 3)]] * NEEDED_REVIEWS
    assert not fit(far_apart, ()).judged.is_better


def test_a_gain_equal_to_its_error_or_to_the_least_does_not_count() -> None:
    for gain, error, is_better in ((0.5, 0.25, True), (0.25, 0.25, False), (LEAST_GAIN, 0.0, False)):
        assert FitQuality(9, gain, 0.0, 0.1, 0.1, error).is_better == is_better


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


def test_many_cards_are_stood_for_by_some_and_none_ask_for_nothing() -> None:
    many = [(f"{card}-{copy}", history) for copy in range(5) for card, history in CARDS]
    assert len(many) > MOST_CARDS
    one, all_of_them, none = (workload(cards, TODAY, PUBLISHED_POLICY, PUBLISHED_POLICY) for cards in (CARDS, many, []))
    assert abs(all_of_them.reviews_a_day / (5 * one.reviews_a_day) - 1) < 0.2
    assert (none.reviews_a_day, none.recall) == (0.0, None)
