"""An oracle that computes weight by weight in float64, and what a weight must not depend on: masked tokens and other rows."""

import itertools
import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

CASES = list(itertools.product(("token", "sequence", "geometric"), ("truncate", "mask")))


def expected(train, rollout, mask, level, mode, cap):
    weights = torch.zeros(train.shape, dtype=torch.float64)
    for i in range(train.shape[0]):
        kept = [t for t in range(train.shape[1]) if mask[i, t]]
        delta = {t: train[i, t].item() - rollout[i, t].item() for t in kept}
        for t in kept:
            total = math.fsum(delta.values())
            log_w = {"token": delta[t], "sequence": total, "geometric": total / len(kept)}[level]
            w = math.exp(min(log_w, 700.0))  # beyond any cap
            weights[i, t] = w if w <= cap else cap if mode == "truncate" else 0.0
    return weights


def drawn(N=4, T=6, dtype=torch.float32, scale=0.5):
    rollout = -3 * torch.rand(N, T)
    train = rollout + scale * torch.randn(N, T)
    return train.to(dtype), rollout.to(dtype), torch.rand(N, T) < 0.7


def assert_right(actual, train, rollout, mask, level, mode, cap):
    dtype = train.dtype
    exact = expected(train, rollout, mask, level, mode, cap)
    # 16 bits: half a unit in the last place, and what float32 adds to it.
    rounding = 0.5 * torch.finfo(dtype).eps if dtype.itemsize == 2 else 0.0
    assert actual.dtype == dtype and actual.shape == train.shape
    tolerance = rounding + (1e-12 if dtype == torch.float64 else 1e-5)
    # A weight as close to the cap as this may fall on either side, so it is not compared.
    near = (expected(train, rollout, mask, level, "truncate", math.inf) / cap - 1).abs() < 1e-3
    assert_close(actual.double()[~near], exact[~near], rtol=tolerance, atol=1e-6)


def check(rollout_weights, train, rollout, mask, caps=(0.8, 1.0, 2.0, 1e4)):
    for (level, mode), cap in itertools.product(CASES, caps):
        assert_right(rollout_weights(train, rollout, mask, level, mode, cap), train, rollout, mask, level, mode, cap)


@given(st.integers(1, 4), st.integers(1, 7))
def test_any_shape(rollout_weights, N, T):
    check(rollout_weights, *drawn(N, T))


def test_equal_log_probabilities_give_1(rollout_weights):
    train, _, mask = drawn()
    for level, mode in CASES:
        assert_close(rollout_weights(train, train.clone(), mask, level, mode, 1.5), mask.float())


def test_the_cap_truncates_or_masks_and_nothing_bounds_from_below(rollout_weights):
    train, rollout, mask = torch.tensor([[0.0, -2.0, 2.0]]), torch.zeros(1, 3), torch.ones(1, 3)
    small, large = math.exp(-2.0), math.exp(2.0)
    for mode, cap, weights in (
        ("truncate", 3.0, [1.0, small, 3.0]),
        ("mask", 3.0, [1.0, small, 0.0]),
        ("mask", 8.0, [1.0, small, large]),
        ("truncate", 0.5, [0.5, small, 0.5]),
    ):
        assert_close(rollout_weights(train, rollout, mask, "token", mode, cap), torch.tensor([weights]))


def test_a_masked_token_has_no_influence(rollout_weights):
    train, rollout, mask = drawn()
    for level, mode in CASES:
        before = rollout_weights(train, rollout, mask, level, mode, 2.0)
        for value in (1e4, -1e4, 1e30, -1e30):
            loud = train.masked_fill(~mask, value), rollout.masked_fill(~mask, -value)
            after = rollout_weights(*loud, mask, level, mode, 2.0)
            assert torch.equal(after, before) and not after[~mask].any()


def test_a_row_without_tokens_is_zero(rollout_weights):
    train, rollout, mask = drawn()
    mask[1] = False
    check(rollout_weights, train, rollout, mask)
    check(rollout_weights, train, rollout, torch.zeros_like(mask))


def test_the_mask_may_have_any_dtype(rollout_weights):
    train, rollout, mask = drawn()
    for dtype in (torch.int64, torch.uint8, torch.float32, torch.float64, torch.float16):
        check(rollout_weights, train, rollout, mask.to(dtype))


def test_differences_beyond_exp_stay_finite(rollout_weights):
    mask = torch.tensor([[1, 1, 1, 0]]).bool()
    for delta in (100.0, -100.0, 1e4, -1e4):
        train = torch.tensor([[delta, 0.5, delta, delta]])
        check(rollout_weights, train, torch.zeros(1, 4), mask)
        check(rollout_weights, torch.zeros(1, 4), train, mask)


def test_weights_are_constants(rollout_weights):
    train, rollout, mask = drawn()
    train.requires_grad_(), rollout.requires_grad_()
    for level, mode in CASES:
        assert not rollout_weights(train, rollout, mask, level, mode, 2.0).requires_grad


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(rollout_weights):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        for scale in (0.05, 0.5):
            check(rollout_weights, *drawn(4, 40, dtype, scale))


def test_any_memory_layout(rollout_weights):
    train, rollout = torch.randn(6, 4).T, torch.randn(1, 6).expand(4, 6)
    check(rollout_weights, train, rollout, torch.tensor([[1], [0], [1], [1]]).expand(4, 6))
    check(rollout_weights, rollout, torch.randn(4, 12)[:, ::2], torch.rand(6, 4).T < 0.6)


def test_the_weights_lie_on_the_device_of_the_arguments(rollout_weights):
    arguments = [part.to("meta") for part in drawn()]
    for level, mode in CASES:
        assert rollout_weights(*arguments, level, mode, 2.0).device.type == "meta"


def test_arguments_stay_as_they_are_and_the_result_owns_its_memory(rollout_weights):
    arguments = drawn()
    before = [argument.clone() for argument in arguments]
    for level, mode in CASES:
        weights = rollout_weights(*arguments, level, mode, 2.0)
        kept = weights.clone()
        weights[0, 0] = 5.0  # an expanded view would change in other places as well
        assert torch.equal(weights.flatten()[1:], kept.flatten()[1:])
        assert all(map(torch.equal, arguments, before))
        assert torch.equal(rollout_weights(*arguments, level, mode, 2.0), kept)
