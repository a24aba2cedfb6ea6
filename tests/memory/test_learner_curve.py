from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.memory.forecast import Curve, Trial, likely, middle, weigh
from attncli.memory.scheduler import DEFAULT_DECAY, retrievability

trials = st.lists(st.builds(Trial, st.floats(0.001, 500), st.integers(1, 400), st.booleans()), max_size=60)


@given(trials)
def test_every_log_leaves_curves_whose_shares_sum_to_one(seen: list[Trial]) -> None:
    curves = weigh(seen)
    assert sum(curve.share for curve in curves) == pytest.approx(1)
    assert sum(curve.share for curve in likely(curves)) == pytest.approx(1)


@given(st.floats(0.05, 200), st.floats(0, 400))
def test_at_scale_one_and_the_usual_decay_the_curve_is_fsrs_s(stability: float, elapsed_days: float) -> None:
    curve = Curve(1.0, DEFAULT_DECAY)
    assert curve.recall(stability, elapsed_days) == pytest.approx(retrievability(stability, elapsed_days))


@given(st.floats(0.05, 5), st.floats(0.1, 2), st.floats(0.1, 100), st.floats(0, 300), st.floats(0, 50))
def test_recall_falls_with_time(scale: float, decay: float, stability: float, day: float, later: float) -> None:
    curve = Curve(scale, decay)
    assert 0 <= curve.recall(stability, day + later) <= curve.recall(stability, day) <= 1


@pytest.mark.parametrize("scale", [0.22, 3.16])
def test_the_learner_s_own_reviews_move_the_curve_to_where_they_forget(scale: float) -> None:
    truth, draw = Curve(scale, DEFAULT_DECAY), Random(1)
    seen = []
    for _ in range(3000):
        stability, elapsed = draw.uniform(1, 30), draw.randint(1, 40)
        seen.append(Trial(stability, elapsed, draw.random() < truth.recall(stability, elapsed)))
    found, before = middle(likely(weigh(seen))), middle(likely(weigh([])))
    for ratio in (0.5, 1.5, 4.0):
        off = abs(found.recall(1, ratio) - truth.recall(1, ratio))
        assert off < 0.04 and off < abs(before.recall(1, ratio) - truth.recall(1, ratio))
