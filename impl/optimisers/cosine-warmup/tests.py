"""The curve at the points that the statement names, its formula between them, and its shape as a whole."""

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from pytest import approx


@st.composite
def runs(draw):
    """Draw base_lr, warmup, total and min_lr."""
    total = draw(st.integers(1, 1000))
    base_lr = draw(st.floats(1e-6, 1.0))
    return base_lr, draw(st.integers(0, total - 1)), total, base_lr * draw(st.floats(0, 1))


def test_the_warm_up_rises_in_equal_steps_to_the_full_rate(lr_at):
    rates = [lr_at(step, 0.8, warmup=4, total=20) for step in range(4)]
    assert rates == approx([0.2, 0.4, 0.6, 0.8])


def test_the_warm_up_knows_no_min_lr(lr_at):
    assert lr_at(0, 1.0, 10, 100, min_lr=0.5) == approx(0.1)


def test_the_decay_passes_a_quarter_of_a_cosine_at_a_time(lr_at):
    rates = [lr_at(step, 1.0, warmup=10, total=18, min_lr=0.2) for step in (10, 12, 14, 16, 18)]
    root = math.sqrt(0.5)
    assert rates == approx([1.0, 0.6 + 0.4 * root, 0.6, 0.6 - 0.4 * root, 0.2])


def test_without_warm_up_the_first_step_has_the_full_rate(lr_at):
    assert lr_at(0, 0.3, warmup=0, total=5) == approx(0.3)


def test_a_single_step_of_decay(lr_at):
    assert [lr_at(step, 0.3, warmup=1, total=2, min_lr=0.1) for step in range(3)] == approx([0.3, 0.3, 0.1])


@given(runs())
def test_the_peak_lies_where_the_warm_up_ends(lr_at, run):
    base_lr, warmup, total, min_lr = run
    assert lr_at(warmup, base_lr, warmup, total, min_lr) == approx(base_lr)
    if warmup:
        assert lr_at(warmup - 1, base_lr, warmup, total, min_lr) == approx(base_lr)


@given(runs(), st.integers(0, 10**6))
def test_beyond_the_end_the_rate_stays_at_min_lr(lr_at, run, more):
    base_lr, warmup, total, min_lr = run
    assert lr_at(total + more, base_lr, warmup, total, min_lr) == approx(min_lr, abs=1e-9)


@given(runs(), st.floats(0, 1))
def test_the_decay_is_half_a_cosine(lr_at, run, at):
    base_lr, warmup, total, min_lr = run
    step = warmup + round(at * (total - warmup))
    x = (step - warmup) / (total - warmup)
    expected = min_lr + 0.5 * (base_lr - min_lr) * (1 + math.cos(math.pi * x))
    assert lr_at(step, base_lr, warmup, total, min_lr) == approx(expected, abs=1e-9)


@given(runs(), st.integers(0, 500))
def test_steps_as_far_from_both_ends_of_the_decay_add_up_to_both_rates(lr_at, run, away):
    base_lr, warmup, total, min_lr = run
    away = min(away, total - warmup)
    early = lr_at(warmup + away, base_lr, warmup, total, min_lr)
    late = lr_at(total - away, base_lr, warmup, total, min_lr)
    assert early + late == approx(base_lr + min_lr)


def test_the_rate_never_rises_after_the_warm_up(lr_at):
    rates = [lr_at(step, 1.0, 5, 50, 0.1) for step in range(5, 120)]
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(rates))


def test_a_python_float_is_returned(lr_at):
    for step in (0, 3, 5, 10, 99):
        assert isinstance(lr_at(step, 1.0, 5, 10, 0.1), float)
