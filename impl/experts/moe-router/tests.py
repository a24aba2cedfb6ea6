"""The three rules in float64 are the oracle; selection and weight are separate, so each is tested without the other."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

MODES = ("softmax_topk", "topk_softmax", "sigmoid_bias")


def expected(x, wg, k, mode, bias=None):
    logits = x.double() @ wg.double()
    probs = logits.sigmoid() if mode == "sigmoid_bias" else logits.softmax(-1)
    if mode == "topk_softmax":
        idx = logits.topk(k).indices
        return logits.gather(-1, idx).softmax(-1), idx, probs
    if mode == "softmax_topk":
        idx = probs.topk(k).indices
        return probs.gather(-1, idx), idx, probs
    idx = (probs if bias is None else probs + bias.double()).topk(k).indices
    chosen = probs.gather(-1, idx)
    return chosen / chosen.sum(-1, keepdim=True), idx, probs


def assert_right(actual, x, *others, tolerance=1e-5):
    """Compare with the oracle; 16 bits may be off by half a unit in the last place, and by float32's own error."""
    assert len(actual) == 3
    (weights, idx, probs), (exact_weights, exact_idx, exact_probs) = actual, expected(x, *others)
    assert idx.dtype == torch.int64 and torch.equal(idx, exact_idx)
    unit = torch.finfo(x.dtype).eps if x.dtype.itemsize == 2 else 0.0
    tolerance = 1e-12 if x.dtype == torch.float64 else tolerance
    for ours, exact in ((weights, exact_weights), (probs, exact_probs)):
        assert ours.dtype == x.dtype
        assert_close(ours.double(), exact, rtol=tolerance + unit / 2, atol=min(tolerance, 1e-7))


def drawn(N=7, D=4, E=6, dtype=torch.float32):
    """Return x, wg, bias; the bias is large enough to change most choices."""
    return torch.randn(N, D).to(dtype), torch.randn(D, E).to(dtype), torch.randn(E).to(dtype)


@given(st.sampled_from(MODES), st.integers(1, 9), st.integers(1, 5), st.integers(1, 7), st.data(), st.booleans())
def test_any_mode_and_any_shape(route, mode, N, D, E, data, has_bias):
    (x, wg, bias), k = drawn(N, D, E), data.draw(st.integers(1, E))
    bias = bias if has_bias else None
    assert_right(route(x, wg, k, mode, bias), x, wg, k, mode, bias)


def test_experts_come_in_descending_order_of_what_selects_them(route):
    x, wg, bias = drawn()
    for mode in MODES:
        _, idx, probs = route(x, wg, 6, mode, bias)
        scores = probs + bias if mode == "sigmoid_bias" else probs
        assert (scores.gather(-1, idx).diff() <= 0).all()
        assert torch.equal(idx.sort(-1).values, torch.arange(6).expand(7, 6))


def test_the_bias_selects_and_does_nothing_else(route):
    x, wg, _ = drawn()
    bias = torch.tensor([0.0, 0.0, 9.0, 0.0, 5.0, 0.0])
    weights, idx, probs = route(x, wg, 2, "sigmoid_bias", bias)
    assert torch.equal(idx, torch.tensor([2, 4]).expand(7, 2))
    assert_close(probs, (x @ wg).sigmoid())
    assert_close(weights, probs[:, [2, 4]] / probs[:, [2, 4]].sum(-1, keepdim=True))
    for mode in ("softmax_topk", "topk_softmax"):
        for ours, without in zip(route(x, wg, 2, mode, bias), route(x, wg, 2, mode), strict=True):
            assert torch.equal(ours, without)


def test_any_other_mode_is_an_error(route):
    x, wg, bias = drawn()
    for mode in ("softmax", "", "SOFTMAX_TOPK", "sigmoid"):
        with pytest.raises(ValueError):
            route(x, wg, 2, mode, bias)


def test_logits_of_200(route):
    # One feature of 1, so the logits are the row of wg: spread so far that most probabilities are 0 in float32.
    logits = torch.tensor([[-200.0, 180.0, 0.0, -60.0, 200.0, 20.0]])
    bias = torch.arange(6.0) / 4  # saturated sigmoids tie without it
    for settings in ((4, "topk_softmax"), (1, "softmax_topk"), (3, "sigmoid_bias", bias)):
        assert_right(route(torch.ones(3, 1), logits, *settings), torch.ones(3, 1), logits, *settings)


def test_gradients_through_weights_and_probabilities(route):
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        x, wg, bias = (tensor.requires_grad_() for tensor in drawn(dtype=dtype))
        for mode in MODES:
            for k in (1, 3, 6):
                ups = torch.randn(7, k, dtype=dtype), torch.randn(7, 6, dtype=dtype)
                ours, right = route(x, wg, k, mode, bias), expected(x, wg, k, mode, bias)
                for results in ((0, 2), (0,), (2,)):
                    up = [ups[0] if n == 0 else ups[1] for n in results]
                    actual = torch.autograd.grad(
                        [ours[n] for n in results], (x, wg, bias), up, retain_graph=True, allow_unused=True
                    )
                    exact = torch.autograd.grad([right[n] for n in results], (x, wg), up, retain_graph=True)
                    assert_close(actual[:2], exact, rtol=tolerance, atol=tolerance)
                    assert actual[2] is None or not actual[2].any()


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(route):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        x, wg, bias = drawn(N=40, D=16, E=12, dtype=dtype)
        for mode in MODES:
            assert_right(route(x, wg / 4, 4, mode, bias), x, wg / 4, 4, mode, bias)


def test_any_memory_layout(route):
    x, wg, bias = torch.randn(4, 7).T, torch.randn(4, 12)[:, ::2], torch.randn(12)[::2]
    for mode in MODES:
        assert_right(route(x, wg, 3, mode, bias), x, wg, 3, mode, bias)


def test_device_arguments_and_memory(route):
    for mode in MODES:
        x, wg, bias = drawn()
        on_meta = route(x.to("meta"), wg.to("meta"), 2, mode, bias.to("meta"))
        assert [y.device.type for y in on_meta] == ["meta"] * 3
        before = [tensor.clone() for tensor in (x, wg, bias)]
        first = [y.clone() for y in route(x, wg, 2, mode, bias)]
        assert all(map(torch.equal, (x, wg, bias), before))
        second = route(x, wg, 2, mode, bias)
        assert all(map(torch.equal, second, first))
        second[0].zero_()  # the results share no memory
        assert torch.equal(second[2], first[2])
