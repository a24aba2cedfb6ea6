"""Oracles in float64, one stream at a time, what balance implies, and how often the layer is called."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected_sinkhorn(logits, iters=20):
    P = logits.double().exp()
    for _ in range(iters):
        P = P / P.sum(-1, keepdim=True)
        P = P / P.sum(-2, keepdim=True)
    return P


def expected_step(x, pre, post, comb, f):
    """Follow the statement in float64; the layer gets and gives the dtype of x."""
    n = x.shape[2]
    wide = x.double()
    h = sum(pre[:, :, i, None].double() * wide[:, :, i] for i in range(n))
    y = f(h.to(x.dtype)).double()
    streams = []
    for i in range(n):
        mixed = sum(comb[:, :, i, j, None].double() * wide[:, :, j] for j in range(n))
        streams.append(mixed + post[:, :, i, None].double() * y)
    return torch.stack(streams, 2)


def inputs(B=2, S=3, n=4, D=5, dtype=torch.float32):
    return [torch.randn(shape).to(dtype) for shape in ((B, S, n, D), (B, S, n), (B, S, n), (B, S, n, n))]


def layer(h):
    """Be nonlinear and mix features, exactly in any dtype: a stand-in for attention."""
    return h.flip(-1).abs()


def assert_right(mhc_step, arguments, f=layer, rtol=1e-5, atol=1e-5):
    out = mhc_step(*arguments, f)
    assert out.dtype == arguments[0].dtype and out.shape == arguments[0].shape
    assert_close(out.double(), expected_step(*arguments, f), rtol=rtol, atol=atol)


@given(st.lists(st.integers(1, 3), max_size=2), st.integers(1, 5), st.integers(1, 25))
def test_sinkhorn_divides_rows_then_columns(sinkhorn, lead, n, iters):
    logits = torch.randn(*lead, n, n)
    assert_close(sinkhorn(logits, iters).double(), expected_sinkhorn(logits, iters), rtol=1e-4, atol=1e-6)


def test_sinkhorn_runs_20_iterations_by_default(sinkhorn):
    logits = 6 * torch.randn(50, 4, 4, dtype=torch.float64)  # far from converged after 20
    assert_close(sinkhorn(logits), expected_sinkhorn(logits, 20))


def test_columns_sum_to_one_and_rows_in_the_limit(sinkhorn):
    logits = torch.randn(3, 4, 4)
    for iters in (1, 2, 200):
        assert_close(sinkhorn(logits, iters).sum(-2), torch.ones(3, 4))
    assert_close(sinkhorn(logits, 200).sum(-1), torch.ones(3, 4), rtol=1e-3, atol=1e-3)


def test_a_number_added_to_all_logits_changes_nothing(sinkhorn):
    logits = torch.randint(-8, 8, (2, 4, 4)) / 4
    for shift in (-1e3, 1e3, torch.tensor([1e3, -1e3]).reshape(2, 1, 1)):
        assert_close(sinkhorn(logits + shift), sinkhorn(logits), rtol=1e-4, atol=1e-6)


def test_logits_of_30_are_stable_with_their_gradients(sinkhorn):
    for logits in (
        30 * torch.eye(4) - 15,
        torch.empty(8, 4, 4).uniform_(-30, 30),
        60.0 * torch.randint(0, 2, (20, 3, 3)) - 30,
    ):
        logits.requires_grad_()
        out, up = sinkhorn(logits), torch.randn(logits.shape)
        assert_close(out.double(), expected_sinkhorn(logits), rtol=1e-3, atol=1e-5)
        (slope,) = torch.autograd.grad(out, logits, up)
        assert slope.isfinite().all()


def test_gradients_of_sinkhorn(sinkhorn):
    logits, up = (
        torch.randn(2, 4, 4, dtype=torch.float64, requires_grad=True),
        torch.randn(2, 4, 4, dtype=torch.float64),
    )
    for iters in (1, 5, 20):
        actual = torch.autograd.grad(sinkhorn(logits, iters), logits, up)
        assert_close(actual, torch.autograd.grad(expected_sinkhorn(logits, iters), logits, up))


@given(*[st.integers(1, 4)] * 4)
def test_a_step_of_any_size(mhc_step, B, S, n, D):
    assert_right(mhc_step, inputs(B, S, n, D))


def test_a_doubly_stochastic_mixture_keeps_the_mean_of_the_streams(sinkhorn, mhc_step):
    x, pre, _, comb = inputs()
    out = mhc_step(x, pre, torch.zeros(2, 3, 4), sinkhorn(comb, 200), layer)
    assert_close(out.mean(2), x.mean(2), rtol=1e-3, atol=1e-3)


def test_the_layer_is_called_once_with_the_mixture(mhc_step):
    calls = []
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        calls.clear()
        x, pre, post, comb = inputs(dtype=dtype)
        mhc_step(x, pre, post, comb, lambda h: calls.append(h) or layer(h))
        assert len(calls) == 1 and calls[0].dtype == dtype and calls[0].shape == (2, 3, 5)
        h = (pre.double()[..., None] * x.double()).sum(2)
        assert_close(calls[0].double(), h, rtol=0.52 * torch.finfo(dtype).eps + 1e-6, atol=1e-5)


def test_gradients_of_a_step_also_go_through_the_layer(mhc_step):
    weight = torch.randn(5, 5, dtype=torch.float64, requires_grad=True)
    leaves, up = [t.requires_grad_() for t in inputs(dtype=torch.float64)], torch.randn(2, 3, 4, 5, dtype=torch.float64)

    def f(h):
        return (h @ weight).tanh()

    actual = torch.autograd.grad(mhc_step(*leaves, f), [*leaves, weight], up)
    assert_close(actual, torch.autograd.grad(expected_step(*leaves, f), [*leaves, weight], up))


def test_16_bits_are_computed_in_float32_and_rounded_once(sinkhorn, mhc_step):
    for dtype in (torch.float16, torch.bfloat16):
        half = 0.52 * torch.finfo(dtype).eps
        # A layer that gives a constant: no rounding of h can change it.
        assert_right(mhc_step, inputs(S=20, n=8, D=16, dtype=dtype), lambda h: torch.full_like(h, 0.75), half, 2e-5)
        logits = torch.randn(20, 4, 4).to(dtype)
        out = sinkhorn(logits)
        assert out.dtype == dtype
        assert_close(out.double(), expected_sinkhorn(logits), rtol=half, atol=1e-6)


def test_transposed_strided_and_expanded_inputs(sinkhorn, mhc_step):
    x, pre = torch.randn(2, 4, 3, 5).transpose(1, 2), torch.randn(2, 3, 8)[..., ::2]
    post, comb = torch.randn(1, 1, 4).expand(2, 3, 4), torch.randn(2, 3, 4, 4).mT
    assert_right(mhc_step, [x, pre, post, comb])
    assert_close(sinkhorn(comb).double(), expected_sinkhorn(comb), rtol=1e-4, atol=1e-6)


def test_results_lie_on_the_device_of_the_inputs(sinkhorn, mhc_step):
    x, pre, post, comb = (t.to("meta") for t in inputs())
    assert sinkhorn(comb).device.type == mhc_step(x, pre, post, comb, layer).device.type == "meta"


def test_arguments_stay_and_results_are_new(sinkhorn, mhc_step):
    arguments = inputs()
    before = [t.clone() for t in arguments]
    first = sinkhorn(arguments[3]), mhc_step(*arguments, lambda h: h)
    kept = [t.clone() for t in first]
    sinkhorn(arguments[3]).add_(1.0), mhc_step(*arguments, lambda h: h).add_(1.0)
    assert_close(arguments, before, rtol=0, atol=0)
    assert_close(list(first), kept, rtol=0, atol=0)
