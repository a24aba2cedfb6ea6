"""An oracle in float64 for each activation, and that every token is by itself."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

ACTIVATIONS = ("relu", "gelu", "gelu_tanh")


def activated(z, act):
    if act == "relu":
        return z.relu()
    return torch.nn.functional.gelu(z, approximate="none" if act == "gelu" else "tanh")


def expected(x, w1, b1, w2, b2, act="relu"):
    x, w1, b1, w2, b2 = (t.double() for t in (x, w1, b1, w2, b2))
    return activated(x @ w1 + b1, act) @ w2 + b2


def inputs(lead=(2, 3), D=6, F=10, dtype=torch.float32):
    weights = [torch.randn(D, F) / math.sqrt(D), torch.randn(F), torch.randn(F, D) / math.sqrt(F), torch.randn(D)]
    return [t.to(dtype) for t in (torch.randn(*lead, D), *weights)]


def through(ffn, z, act):
    """Return the activation of each number of `z`: with D = F = 1 and weights of 1 nothing else happens."""
    one, zero = torch.ones(1, 1, dtype=z.dtype), torch.zeros(1, dtype=z.dtype)
    return ffn(z[:, None], one, zero, one, zero, act)[:, 0]


def assert_right(actual, arguments, act, rtol=1e-5, atol=1e-5):
    assert actual.dtype == arguments[0].dtype and actual.shape == arguments[0].shape
    assert_close(actual.double(), expected(*arguments, act), rtol=rtol, atol=atol)


@given(st.lists(st.integers(1, 3), max_size=3), st.integers(1, 6), st.integers(1, 8), st.sampled_from(ACTIVATIONS))
def test_any_sizes(ffn, lead, D, F, act):
    arguments = inputs(lead, D, F)
    assert_right(ffn(*arguments, act), arguments, act)


def test_relu_is_the_default(ffn):
    arguments = inputs()
    assert_right(ffn(*arguments), arguments, "relu")


def test_the_two_gelus_are_not_confused(ffn):
    z = torch.linspace(-6, 6, 500)
    for act in ACTIVATIONS:
        assert_close(through(ffn, z, act).double(), activated(z.double(), act), rtol=1e-6, atol=2e-6)


def test_an_activation_of_0_is_0_and_biases_are_added(ffn):
    _, w1, b1, w2, b2 = inputs()
    for act in ACTIVATIONS:
        assert_close(ffn(torch.zeros(4, 6), w1, 0 * b1, w2, b2, act), b2.expand(4, 6))


def test_tokens_do_not_see_each_other(ffn):
    x, *weights = inputs((4, 5))
    x[0] *= 100
    for act in ACTIVATIONS:
        together = ffn(x, *weights, act)
        for b in range(4):
            for t in range(5):
                assert_close(together[b, t], ffn(x[b, t], *weights, act), rtol=1e-4, atol=1e-4)


def test_large_values_are_stable(ffn):
    for act in ACTIVATIONS:
        for size in (30.0, 100.0, 1e4, 1e15):
            z = size * torch.tensor([-1.0, 1.0])
            assert_close(through(ffn, z, act), torch.tensor([0.0, size]), rtol=1e-5, atol=1e-5)


def test_gradients_of_large_values_are_finite(ffn):
    for act in ACTIVATIONS:
        z = torch.tensor([-1e4, -30.0, 30.0, 1e4], requires_grad=True)
        (slope,) = torch.autograd.grad(through(ffn, z, act).sum(), z)
        assert_close(slope, torch.tensor([0.0, 0.0, 1.0, 1.0]), rtol=1e-5, atol=1e-5)


def test_gradients_are_those_of_the_oracle(ffn):
    for act in ACTIVATIONS:
        leaves, up = (
            [t.requires_grad_() for t in inputs(dtype=torch.float64)],
            torch.randn(2, 3, 6, dtype=torch.float64),
        )
        actual = torch.autograd.grad(ffn(*leaves, act), leaves, up)
        assert_close(actual, torch.autograd.grad(expected(*leaves, act), leaves, up))


def test_float64_keeps_its_digits(ffn):
    for act in ACTIVATIONS:
        arguments = inputs(dtype=torch.float64)
        assert_right(ffn(*arguments, act), arguments, act, 1e-9, 1e-9)


def test_16_bits_are_computed_in_float32_and_rounded_once(ffn):
    for dtype in (torch.float16, torch.bfloat16):
        for act in ACTIVATIONS:
            arguments = inputs((40,), D=32, F=64, dtype=dtype)
            assert_right(ffn(*arguments, act), arguments, act, 0.52 * torch.finfo(dtype).eps, 1e-5)


def test_float16_hidden_values_may_pass_its_largest_number(ffn):
    x, w1 = torch.full((1, 16), 100.0).half(), torch.full((16, 2), 100.0).half()
    w2, b1, b2 = torch.full((2, 16), 2.0**-10).half(), torch.zeros(2).half(), torch.zeros(16).half()
    for act in ACTIVATIONS:
        assert_right(ffn(x, w1, b1, w2, b2, act), (x, w1, b1, w2, b2), act, 1e-3, 1e-3)


def test_transposed_strided_and_expanded_inputs(ffn):
    x, (_, w1, b1, w2, _) = torch.randn(3, 2, 12).transpose(0, 1)[..., ::2], inputs()
    arguments = [x, w1.t().contiguous().t(), b1[:1].expand(10), w2.t().contiguous().t(), torch.randn(12)[::2]]
    for act in ACTIVATIONS:
        assert_right(ffn(*arguments, act), arguments, act)
        expanded = [x[:1].expand(4, 3, 6), *arguments[1:]]
        assert_right(ffn(*expanded, act), expanded, act)


def test_the_result_lies_on_the_device_of_the_inputs(ffn):
    for act in ACTIVATIONS:
        assert ffn(*(t.to("meta") for t in inputs()), act).device.type == "meta"


def test_arguments_stay_and_the_result_is_new(ffn):
    for act in ACTIVATIONS:
        arguments = inputs()
        before = [t.clone() for t in arguments]
        first = ffn(*arguments, act)
        kept = first.clone()
        ffn(*arguments, act).add_(1.0)
        assert_close(arguments, before, rtol=0, atol=0)
        assert torch.equal(first, kept)
