"""An oracle in float64, what a gate implies, and the hidden width from its definition."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(x, w_gate, w_up, w_down):
    x, w_gate, w_up, w_down = (t.double() for t in (x, w_gate, w_up, w_down))
    return (torch.nn.functional.silu(x @ w_gate) * (x @ w_up)) @ w_down


def inputs(lead=(2, 3), D=6, F=10, dtype=torch.float32):
    weights = [torch.randn(shape) / math.sqrt(shape[0]) for shape in ((D, F), (D, F), (F, D))]
    return [t.to(dtype) for t in (torch.randn(*lead, D), *weights)]


def gated(swiglu_ffn, gate, up):
    """Return silu(gate)·up for single numbers: the token is (1, 0), the weights hand over one number each."""
    w_gate, w_up = (torch.stack([z, torch.zeros_like(z)])[:, None] for z in (gate, up))
    return swiglu_ffn(torch.tensor([1.0, 0.0], dtype=gate.dtype), w_gate, w_up, torch.ones(1, 2, dtype=gate.dtype))[0]


def assert_right(actual, arguments, rtol=1e-5, atol=1e-5):
    assert actual.dtype == arguments[0].dtype and actual.shape == arguments[0].shape
    assert_close(actual.double(), expected(*arguments), rtol=rtol, atol=atol)


@given(st.lists(st.integers(1, 3), max_size=3), st.integers(1, 6), st.integers(1, 8))
def test_any_sizes(swiglu_ffn, lead, D, F):
    arguments = inputs(lead, D, F)
    assert_right(swiglu_ffn(*arguments), arguments)


def test_the_up_projection_is_linear(swiglu_ffn):
    x, w_gate, w_up, w_down = inputs()
    once = swiglu_ffn(x, w_gate, w_up, w_down)
    assert_close(swiglu_ffn(x, w_gate, -3 * w_up, w_down), -3 * once, rtol=1e-4, atol=1e-5)
    assert_close(swiglu_ffn(x, 0 * w_gate, w_up, w_down), 0 * once)


def test_tokens_do_not_see_each_other(swiglu_ffn):
    x, *weights = inputs((4, 5))
    x[0] *= 100
    together = swiglu_ffn(x, *weights)
    for b in range(4):
        for t in range(5):
            assert_close(together[b, t], swiglu_ffn(x[b, t], *weights), rtol=1e-4, atol=1e-3)


def test_large_gates_are_stable_with_their_gradients(swiglu_ffn):
    up = torch.tensor(1.5)
    for size in (30.0, 100.0, 1e4, 1e30):
        for gate, value, slope in ((size, 1.5 * size, 1.5), (-size, 0.0, 0.0)):
            gate = torch.tensor(gate, requires_grad=True)
            out = gated(swiglu_ffn, gate, up)
            assert_close(out, torch.tensor(value), rtol=1e-5, atol=1e-5)
            (actual,) = torch.autograd.grad(out, gate)
            assert_close(actual, torch.tensor(slope), rtol=1e-5, atol=1e-5)


def test_gradients_are_those_of_the_oracle(swiglu_ffn):
    leaves, up = [t.requires_grad_() for t in inputs(dtype=torch.float64)], torch.randn(2, 3, 6, dtype=torch.float64)
    # Both results are there before the first backward pass: neither may overwrite what the other needs.
    out, other = swiglu_ffn(*leaves), swiglu_ffn(-leaves[0], *leaves[1:])
    assert_close(torch.autograd.grad(out, leaves, up), torch.autograd.grad(expected(*leaves), leaves, up))
    exact = torch.autograd.grad(expected(-leaves[0], *leaves[1:]), leaves, up)
    assert_close(torch.autograd.grad(other, leaves, up), exact)


def test_float64_keeps_its_digits(swiglu_ffn):
    arguments = inputs(dtype=torch.float64)
    assert_right(swiglu_ffn(*arguments), arguments, 1e-9, 1e-9)


def test_16_bits_are_computed_in_float32_and_rounded_once(swiglu_ffn):
    for dtype in (torch.float16, torch.bfloat16):
        arguments = inputs((40,), D=32, F=64, dtype=dtype)
        assert_right(swiglu_ffn(*arguments), arguments, 0.52 * torch.finfo(dtype).eps, 1e-5)


def test_float16_hidden_values_may_pass_its_largest_number(swiglu_ffn):
    arguments = [
        torch.full(shape, value).half()
        for shape, value in (((1, 16), 10.0), ((16, 2), 10.0), ((16, 2), 10.0), ((2, 16), 2.0**-14))
    ]
    assert_right(swiglu_ffn(*arguments), arguments, 1e-3, 1e-3)


def test_transposed_strided_and_expanded_inputs(swiglu_ffn):
    weights = [torch.randn(10, 6).t(), torch.randn(6, 20)[:, ::2], torch.randn(6, 10).t()]
    for x in (
        torch.randn(3, 2, 6).transpose(0, 1),
        torch.randn(2, 3, 12)[..., ::2],
        torch.randn(1, 3, 6).expand(4, 3, 6),
    ):
        assert_right(swiglu_ffn(x, *weights), [x, *weights], 1e-4, 1e-4)


def test_the_result_lies_on_the_device_of_the_inputs(swiglu_ffn):
    assert swiglu_ffn(*(t.to("meta") for t in inputs())).device.type == "meta"


def test_arguments_stay_and_the_result_is_new(swiglu_ffn):
    arguments = inputs()
    before = [t.clone() for t in arguments]
    first = swiglu_ffn(*arguments)
    kept = first.clone()
    swiglu_ffn(*arguments).add_(1.0)
    assert_close(arguments, before, rtol=0, atol=0)
    assert torch.equal(first, kept)
    arguments[1].mul_(-2.0)
    assert_right(swiglu_ffn(*arguments), arguments)


@given(st.integers(1, 20_000), st.integers(1, 1_000))
def test_the_width_is_the_smallest_multiple_that_is_enough(swiglu_hidden, D, multiple_of):
    width = swiglu_hidden(D, multiple_of)
    assert isinstance(width, int) and width % multiple_of == 0
    assert 3 * (width - multiple_of) < 8 * D <= 3 * width


def test_known_widths(swiglu_hidden):
    assert swiglu_hidden(4096) == 11008
    assert swiglu_hidden(1, 1) == 3
    assert swiglu_hidden(96) == swiglu_hidden(1) == 256
    assert swiglu_hidden(97) == 512
