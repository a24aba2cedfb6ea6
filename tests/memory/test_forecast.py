"""Check the planner and its forecast: order, days never overfilled, stability as py-fsrs has it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import fsrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attncli.memory import forecast
from attncli.memory.forecast import Curve, Item, StabilityGrowth, likely, middle, play_through, study_order, weigh
from attncli.memory.scheduler import DEFAULT_DECAY, retrievability

TODAY, INTERVIEW = 1000, 1014
CURVES = likely(weigh([]))
OUTLOOK = forecast.Outlook(INTERVIEW, middle(CURVES), StabilityGrowth(), *StabilityGrowth().fresh(), 1000)
minutes_of_days = st.lists(st.integers(0, 20), min_size=1, max_size=14)
trials = st.lists(st.builds(forecast.Trial, st.floats(0.001, 500), st.integers(1, 400), st.booleans()), max_size=60)
START = datetime(2026, 1, 1, tzinfo=UTC)
later_reviews = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 4)), max_size=8)


def unseen(id: str, weight: float) -> Item:
    return Item(id, weight, None, 5.0, -9999, 60.0, 15.0)


def seen(id: str, weight: float, stability: float, days_ago: int) -> Item:
    return Item(id, weight, stability, 5.0, TODAY - days_ago, 60.0, 15.0)


@st.composite
def decks(draw: st.DrawFn) -> list[Item]:
    weights = st.sampled_from((4.0, 3.0, 1.0, 0.5))
    size = draw(st.integers(0, 25))
    old = [seen(f"s{n}", draw(weights), draw(st.floats(0.1, 200)), draw(st.integers(0, 60))) for n in range(size)]
    return old + [unseen(f"n{n}", draw(weights)) for n in range(draw(st.integers(0, 25)))]


def seconds_of(minutes: list[int]) -> dict[int, float]:
    return {INTERVIEW - len(minutes) + n: 60.0 * had for n, had in enumerate(minutes)}


@given(decks(), minutes_of_days)
def test_no_day_is_overfilled_and_no_card_is_new_twice(deck: list[Item], minutes: list[int]) -> None:
    seconds = seconds_of(minutes)
    days, after = play_through(deck, OUTLOOK, seconds)
    assert [day.day for day in days] == sorted(seconds)
    for day in days:
        assert day.seconds <= seconds[day.day] + 1e-6
        assert set(day.new) <= set(day.cards) and len(day.cards) == len(set(day.cards))
    introduced = [id for day in days for id in day.new]
    assert len(introduced) == len(set(introduced)) and set(introduced) <= {item.id for item in deck}
    assert sorted(item.id for item in after) == sorted(item.id for item in deck)
    left = {item.id for item in deck if item.stability_days is None} - {*introduced}
    assert forecast.sees_all(forecast.Reach(deck, INTERVIEW), OUTLOOK, seconds) == (not left)


@settings(max_examples=40)
@given(decks(), minutes_of_days)
def test_the_forecast_is_a_share_inside_its_interval(deck: list[Item], minutes: list[int]) -> None:
    weights = {item.id: item.weight for item in deck}
    for found in (forecast.scenarios(deck, OUTLOOK, CURVES, seconds_of(minutes)), forecast.thirds_as_now(deck, CURVES)):
        expected = forecast.expected_recall(weights, found, OUTLOOK)
        assert 0 <= expected.low <= expected.recall <= expected.high <= 1


@given(st.floats(0.01, 0.999), st.floats(0.01, 500), st.floats(0, 2000))
def test_recall_has_fallen_so_far_where_the_ratio_says(recall: float, stability: float, elapsed: float) -> None:
    at = OUTLOOK.curve.ratio_at(recall)
    assert OUTLOOK.curve.recall(stability, at * stability) == pytest.approx(recall)
    if abs(elapsed / stability - at) > 1e-6 * at:
        assert (elapsed / stability > at) == (OUTLOOK.curve.recall(stability, elapsed) < recall)


@given(decks())
def test_what_was_studied_today_is_not_asked_again_today(deck: list[Item]) -> None:
    for passing in (False, True):
        assert all(item.review_day < TODAY for item in study_order(deck, TODAY, OUTLOOK, passing))


def test_what_is_asked_most_comes_first_and_reviews_before_new_cards_of_the_same_weight() -> None:
    deck = [unseen("n1", 1), unseen("n4", 4), seen("s1", 1, 1, 30), seen("s4", 4, 1, 30), seen("fine", 4, 100, 1)]
    assert OUTLOOK.recall(deck[2], TODAY) < forecast.KEPT_RECALL
    assert [item.id for item in study_order(deck, TODAY, OUTLOOK, passing=False)] == ["s4", "n4", "s1", "n1"]


def test_own_cards_come_first_and_in_the_last_days_others_are_new_if_planned_four_to_seven_days_ahead() -> None:
    own, must = replace(unseen("own", 0.25), own=True), replace(unseen("must", 4), must_know=True)
    deck = [unseen("n4", 4), seen("s4", 4, 1, 30), must, own]
    assert [item.id for item in study_order(deck, TODAY, OUTLOOK, passing=False)] == ["own", "s4", "n4", "must"]
    for day in range(INTERVIEW - 3, INTERVIEW):
        assert {item.id for item in study_order(deck, day, OUTLOOK, passing=True)} == {"own", "must", "s4"}
    for set_before, has_new in ((2, False), (3, False), (4, True), (7, True), (8, False)):
        outlook = replace(OUTLOOK, set_day=INTERVIEW - set_before)
        for day in range(INTERVIEW - min(3, set_before), INTERVIEW):
            assert bool([*study_order([unseen("n4", 4)], day, outlook, passing=True)]) is has_new


@given(decks(), st.integers(1, 40), st.integers(8, 30))
def test_no_day_has_more_than_twice_the_new_cards_needed(deck: list[Item], minutes: int, days: int) -> None:
    outlook = replace(OUTLOOK, interview_day=TODAY + days)
    planned, _ = play_through(deck, outlook, dict.fromkeys(range(TODAY, TODAY + days), 60.0 * minutes))
    all_new = sum(item.stability_days is None for item in deck)
    assert all(len(day.new) <= max(1, 2 * all_new / days) for day in planned)
    assert not any(day.new for day in planned[-3:])


def test_a_card_that_does_not_fit_gives_way_until_the_day_is_nine_tenths_full() -> None:
    deck = [unseen(f"n{n}", 4) for n in range(3)] + [seen(f"s{n}", 1, 1, 30) for n in range(9)]
    day = play_through(deck, OUTLOOK, {TODAY: 110.0})[0][0]
    assert day.new == ("n0",) and len(day.cards) == 4


def test_in_the_last_pass_a_minute_goes_where_it_raises_recall_most_and_not_to_one_day() -> None:
    deck = [seen("well", 4, 300, 2), seen("fading", 4, 3, 20), seen("rare", 0.5, 3, 20)]
    eve = INTERVIEW - 1
    assert [item.id for item in study_order(deck, eve, OUTLOOK, passing=True)] == ["fading", "rare", "well"]
    gains = [OUTLOOK.gain(item, eve) for item in study_order(deck, eve, OUTLOOK, passing=True)]
    assert gains == sorted(gains, reverse=True)
    deck = [seen(f"s{n}", 1, 30, 10) for n in range(120)]
    days, _ = play_through(deck, OUTLOOK, dict.fromkeys(range(TODAY, INTERVIEW), 600.0))
    passing = [len(day.cards) for day in days if day.is_last_pass]
    assert len(passing) == 3 and max(passing) <= 40


def test_studying_raises_the_forecast_and_more_time_raises_it_further() -> None:
    deck = [unseen(f"n{n}", 1) for n in range(60)]
    weights = {item.id: 1.0 for item in deck}

    def foretold(minutes: int) -> float:
        found = forecast.scenarios(deck, OUTLOOK, CURVES, dict.fromkeys(range(TODAY, INTERVIEW), minutes * 60.0))
        return forecast.expected_recall(weights, found, OUTLOOK).recall

    assert forecast.expected_recall(weights, forecast.thirds_as_now(deck, CURVES), OUTLOOK).recall == 0
    assert 0 < foretold(2) < foretold(6) < foretold(20)


def test_the_thirds_hold_every_curve_once_from_the_steepest_on() -> None:
    groups = forecast.thirds(CURVES)
    assert {curve for group in groups for curve in group} == set(CURVES)
    assert sum(len(group) for group in groups) == len(CURVES)
    recalls = [middle(group).recall(1, 10) for group in groups]
    assert recalls == sorted(recalls)


def test_of_very_many_cards_the_plan_is_that_of_those_it_can_reach() -> None:
    few = [unseen(f"n{n:05d}", 4) for n in range(30)] + [seen(f"s{n:05d}", 3, 2, 20) for n in range(30)]
    many = few + [unseen(f"m{n:05d}", 1) for n in range(6000)]
    seconds = dict.fromkeys(range(TODAY, TODAY + 4), 300.0)
    outlook = replace(OUTLOOK, interview_day=TODAY + 4)
    days, after = play_through(many, outlook, seconds)
    assert days == play_through(few, outlook, seconds)[0]
    assert [item.id for item in after] == [item.id for item in many]


@settings(max_examples=40)
@given(trials)
def test_every_log_leaves_curves_whose_shares_sum_to_one(seen: list[forecast.Trial]) -> None:
    curves = weigh(seen)
    assert sum(curve.share for curve in curves) == pytest.approx(1)
    assert sum(curve.share for curve in likely(curves)) == pytest.approx(1)


def test_without_reviews_the_likeliest_curve_is_the_one_nearest_the_prior() -> None:
    best = max(weigh([]), key=lambda curve: curve.share)
    assert (best.scale, best.decay) == (0.68, DEFAULT_DECAY * 1.6)


@given(st.floats(0.05, 5), st.floats(0.1, 2), st.floats(0.1, 100), st.floats(0, 300), st.floats(0, 50))
def test_recall_falls_as_by_fsrs(scale: float, decay: float, stability: float, day: float, later: float) -> None:
    curve = Curve(scale, decay)
    assert 0 <= curve.recall(stability, day + later) <= curve.recall(stability, day) <= 1
    assert Curve(1.0, DEFAULT_DECAY).recall(stability, day) == pytest.approx(retrievability(stability, day))


@pytest.mark.parametrize("scale", [0.22, 3.16])
def test_the_learner_s_own_reviews_move_the_curve_to_where_they_forget(scale: float) -> None:
    truth, draw = Curve(scale, DEFAULT_DECAY), Random(1)
    seen = []
    for _ in range(3000):
        stability, elapsed = draw.uniform(1, 30), draw.randint(1, 40)
        seen.append(forecast.Trial(stability, elapsed, draw.random() < truth.recall(stability, elapsed)))
    found, before = middle(likely(weigh(seen))), middle(likely(weigh([])))
    for ratio in (0.5, 1.5, 4.0):
        off = abs(found.recall(1, ratio) - truth.recall(1, ratio))
        assert off < 0.04 and off < abs(before.recall(1, ratio) - truth.recall(1, ratio))


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
def test_a_card_forgotten_and_learned_again_is_that_of_py_fsrs(stability: float, difficulty: float) -> None:
    scheduler = fsrs.Scheduler(relearning_steps=(timedelta(minutes=10),), enable_fuzzing=False)
    card = fsrs.Card(card_id=0, state=fsrs.State.Review, stability=stability, difficulty=difficulty, last_review=START)
    at = START + timedelta(days=9)
    card, _ = scheduler.review_card(card, fsrs.Rating.Again, at)
    card, _ = scheduler.review_card(card, fsrs.Rating.Good, at + timedelta(minutes=10))
    assert card.stability == pytest.approx(StabilityGrowth().rated(stability, difficulty, 9, 1), rel=1e-9)


@given(st.floats(0.05, 300), st.floats(1, 10), st.integers(1, 90), st.floats(0, 1))
def test_expected_stability_lies_between(stability: float, difficulty: float, elapsed_days: int, recall: float) -> None:
    growth = StabilityGrowth()
    low, high = sorted(growth.rated(stability, difficulty, elapsed_days, rating) for rating in (1, 3))
    assert low * (1 - 1e-9) <= growth.expected(stability, difficulty, elapsed_days, recall) <= high * (1 + 1e-9)
    assert growth.fresh((0, 0, 1, 0)) == pytest.approx((growth.first(3), growth.first_difficulty(3)))
    assert growth.first(1) < growth.fresh(forecast.FIRST_RATINGS)[0] < growth.first(4)
