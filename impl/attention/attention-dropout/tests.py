"""Statistics within five standard deviations, and what holds exactly: the values kept, the gradients, the generator."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def assert_binomial(counts, n, p):
    """Compare the mean and the spread of `counts` with those of n independent draws, within 5 standard deviations."""
    counts, G, variance = counts.double().flatten(), counts.numel(), n * p * (1 - p)
    assert abs(counts.mean().item() - n * p) <= 5 * math.sqrt(variance / G)
    spread = (counts - n * p).square().mean().item() / variance
    assert abs(spread - 1) <= 5 * math.sqrt((2 + 1 / variance) / G)


@given(st.lists(st.integers(1, 4), min_size=2, max_size=5), st.sampled_from([0.002, 0.1, 0.5, 0.9]))
def test_each_entry_is_dropped_or_scaled(attention_dropout, shape, p):
    weights = torch.rand(shape) + 0.1
    out = attention_dropout(weights, p, True, seeded())
    assert out.shape == weights.shape and out.dtype == weights.dtype
    assert_close(out, torch.where(out == 0, 0.0, weights / (1 - p)))


def test_nothing_happens_outside_training_or_for_p_0(attention_dropout):
    weights = torch.randn(2, 3, 4, 5)
    for p in (0.0, 0.3, 1.0):
        assert torch.equal(attention_dropout(weights, p, False), weights)
        assert torch.equal(attention_dropout(weights, p, False, seeded()), weights)
    assert torch.equal(attention_dropout(weights, 0.0, True, seeded()), weights)


def test_p_1_gives_zeros_with_zero_gradients(attention_dropout):
    weights = torch.rand(2, 3, 4, requires_grad=True)
    out = attention_dropout(weights, 1.0, True, seeded())
    assert torch.equal(out, torch.zeros(2, 3, 4))
    (slope,) = torch.autograd.grad(out.sum(), weights)
    assert torch.equal(slope, torch.zeros(2, 3, 4))


def test_the_rate_is_p_in_every_dtype(attention_dropout):
    weights = torch.ones(8, 8, 128, 128)
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
        for p in (0.002, 0.3):
            dropped = attention_dropout(weights.to(dtype), p, True, seeded()) == 0
            assert_binomial(dropped.sum((-2, -1)), 128 * 128, p)
    assert_binomial((attention_dropout(weights, 0.9, True, seeded()) == 0).sum((-2, -1)), 128 * 128, 0.9)


def test_entries_are_independent_along_every_dimension(attention_dropout):
    # A mask shared along a dimension makes the counts along it spread too far; a fixed count does not let them spread.
    generator, p = seeded(), 0.3
    weights = torch.ones(4, 6, 8, 10)
    dropped = torch.stack([attention_dropout(weights, p, True, generator) == 0 for _ in range(100)])
    for dim in range(5):
        assert_binomial(dropped.sum(dim), dropped.shape[dim], p)
        others = [other for other in range(5) if other != dim]
        assert_binomial(dropped.sum(others), dropped.numel() // dropped.shape[dim], p)


def test_the_value_does_not_decide_who_is_dropped(attention_dropout):
    weights = torch.rand(200, 200).softmax(-1)
    first = attention_dropout(weights, 0.4, True, seeded())
    second = attention_dropout(1 - weights, 0.4, True, seeded())
    assert torch.equal(first == 0, second == 0)


def test_equal_states_give_equal_results_and_the_state_advances(attention_dropout):
    weights, generator = torch.rand(4, 50, 50), seeded(7)
    first, second = (attention_dropout(weights, 0.5, True, generator) for _ in range(2))
    assert not torch.equal(first, second)
    assert torch.equal(first, attention_dropout(weights, 0.5, True, seeded(7)))
    assert not torch.equal(first, attention_dropout(weights, 0.5, True, seeded(8)))


def test_a_generator_leaves_the_global_one_alone(attention_dropout):
    weights, state = torch.rand(4, 9, 9), torch.get_rng_state()
    attention_dropout(weights, 0.5, True, seeded())
    assert torch.equal(torch.get_rng_state(), state)


def test_without_a_generator_the_global_one_is_used(attention_dropout):
    weights, state = torch.rand(4, 50, 50), torch.get_rng_state()
    first, second = (attention_dropout(weights, 0.5, True) for _ in range(2))
    assert not torch.equal(first, second)
    torch.set_rng_state(state)
    assert torch.equal(attention_dropout(weights, 0.5, True), first)


def test_gradients_are_masked_and_scaled_as_the_values(attention_dropout):
    weights = (torch.rand(2, 3, 8, 8) + 0.1).requires_grad_()
    up = torch.randn(2, 3, 8, 8)
    # Both layers run before either backward pass: each must keep its own mask.
    for out in [attention_dropout(weights, 0.4, True, seeded(seed)) for seed in (1, 2)]:
        (slope,) = torch.autograd.grad(out, weights, up)
        assert_close(slope, torch.where(out == 0, 0.0, up / 0.6))


def test_16_bits_are_rounded_once(attention_dropout):
    for dtype in (torch.float16, torch.bfloat16):
        weights = (torch.rand(4, 64, 64) + 0.1).to(dtype)
        out = attention_dropout(weights, 0.3, True, seeded())
        assert out.dtype == dtype
        exact = torch.where(out == 0, 0.0, weights.double() / 0.7)
        assert_close(out.double(), exact, rtol=0.52 * torch.finfo(dtype).eps, atol=0)


def test_any_memory_layout(attention_dropout):
    base = torch.rand(1, 40, 80) + 0.1
    for weights in (base.mT, base[..., ::2], base.expand(3, 40, 80)):
        out = attention_dropout(weights, 0.3, True, seeded())
        assert_close(out, torch.where(out == 0, 0.0, weights / 0.7))
        assert_binomial((out == 0).sum((-2, -1)), weights[0].numel(), 0.3)
    # Copies of one row are dropped independently.
    assert not torch.equal(out[0], out[1])


def test_the_result_lies_on_the_device_of_the_weights(attention_dropout):
    for p in (0.0, 0.5, 1.0):
        assert attention_dropout(torch.rand(2, 3, 3, device="meta"), p, True).device.type == "meta"


def test_the_weights_stay_as_they_are(attention_dropout):
    weights = torch.rand(2, 5, 5)
    before = weights.clone()
    for p in (0.5, 1.0):
        out = attention_dropout(weights, p, True, seeded())
        assert torch.equal(weights, before)
        out.add_(1.0)
        assert torch.equal(weights, before)
