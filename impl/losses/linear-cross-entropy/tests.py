"""Torch's own cross-entropy on the whole float64 logits is the oracle; the size of the chunks must not show."""

import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(x, w, target, chunk=0, ignore_index=-100):
    logits, counted = x.double() @ w.double().T, target != ignore_index
    if not counted.any():
        return (logits * 0).sum()
    return F.cross_entropy(logits[counted], target[counted])


def assert_right(actual, x, *others, **options):
    """Compare with the oracle; 16 bits may be off by half a unit in the last place, and by float32's own error."""
    assert actual.shape == () and actual.dtype == x.dtype
    unit = torch.finfo(x.dtype).eps if x.dtype.itemsize == 2 else 0.0
    tolerance = 1e-12 if x.dtype == torch.float64 else 1e-5
    assert_close(actual.double(), expected(x, *others, **options), rtol=tolerance + 0.5 * unit, atol=tolerance)


def assert_gradients(loss, x, w, *others, tolerance, up=1.0):
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    actual = torch.autograd.grad(up * loss(x, w, *others), (x, w))
    exact = torch.autograd.grad(up * expected(x, w, *others), (x, w))
    for ours, right in zip(actual, exact, strict=True):
        assert_close(ours.double(), right.double(), rtol=tolerance, atol=tolerance * right.abs().max().item())


def drawn(N=7, D=4, V=5, scale=1.0, dtype=torch.float32):
    return (scale * torch.randn(N, D)).to(dtype), torch.randn(V, D).to(dtype), torch.randint(V, (N,))


@given(st.integers(1, 9), st.integers(1, 5), st.integers(1, 9), st.integers(1, 12))
def test_any_shape_and_any_chunk(linear_cross_entropy, N, D, V, chunk):
    x, w, target = drawn(N, D, V)
    assert_right(linear_cross_entropy(x, w, target, chunk), x, w, target)


def test_the_default_chunk_leaves_a_rest(linear_cross_entropy):
    x, w, target = drawn(N=1500, D=3, V=1300)
    target[::3] = -100
    assert_right(linear_cross_entropy(x, w, target), x, w, target)


def test_ignored_rows_count_nowhere(linear_cross_entropy):
    x, w, target = drawn(N=8)
    target[[0, 1, 2, 5]] = -100
    for chunk in (2, 3, 100):
        assert_right(linear_cross_entropy(x, w, target, chunk), x, w, target)
        assert_gradients(linear_cross_entropy, x, w, target, chunk, tolerance=1e-5)


def test_any_number_may_be_ignored_also_a_class(linear_cross_entropy):
    x, w, target = drawn(N=20)
    for ignore_index in (0, 3, 4, -1, 999):
        given_target = torch.where(torch.arange(20) % 4 == 0, ignore_index, target)
        for chunk in (3, 64):
            arguments = (x, w, given_target, chunk, ignore_index)
            assert_right(linear_cross_entropy(*arguments), *arguments)
            assert_gradients(linear_cross_entropy, *arguments, tolerance=1e-5)


def test_without_a_row_loss_and_gradients_are_zero(linear_cross_entropy):
    x, w, target = drawn()
    target.fill_(-100)
    x.requires_grad_(), w.requires_grad_()
    loss = linear_cross_entropy(x, w, target, 3)
    assert loss == 0.0
    assert not any(slope.any() for slope in torch.autograd.grad(loss, (x, w)))


def test_gradients_for_any_chunk_and_any_upstream(linear_cross_entropy):
    x, w, target = drawn(N=11, dtype=torch.float64)
    for chunk in (1, 2, 4, 11, 20):
        assert_right(linear_cross_entropy(x, w, target, chunk), x, w, target)
        for up in (1.0, -2.5):
            assert_gradients(linear_cross_entropy, x, w, target, chunk, tolerance=1e-10, up=up)


def test_either_gradient_alone(linear_cross_entropy):
    x, w, target = drawn()
    for wanted in (x, w):
        for tensor in (x, w):
            tensor.requires_grad_(tensor is wanted)
        (actual,) = torch.autograd.grad(linear_cross_entropy(x, w, target, 3), wanted)
        assert_close(actual, torch.autograd.grad(expected(x, w, target), wanted)[0])


def test_large_logits(linear_cross_entropy):
    x, w, target = drawn(scale=5e3)
    assert_right(linear_cross_entropy(x, w, target, 3), x, w, target)
    assert_gradients(linear_cross_entropy, x, w, target, 3, tolerance=1e-3)


def test_16_bits_are_computed_in_float32(linear_cross_entropy):
    for dtype in (torch.float16, torch.bfloat16):
        unit = torch.finfo(dtype).eps
        for scale in (1.0, 40.0):
            x, w, target = drawn(N=300, D=16, scale=scale, dtype=dtype)
            assert_right(linear_cross_entropy(x, w, target, 4), x, w, target)  # many chunks add up
            assert_gradients(linear_cross_entropy, x, w, target, 4, tolerance=0.51 * unit)


def test_any_memory_layout(linear_cross_entropy):
    x, w, target = torch.randn(4, 7).T, torch.randn(10, 8)[::2, ::2], torch.tensor([2]).expand(7)
    assert_right(linear_cross_entropy(x, w, target, 3), x, w, target)


def test_device_and_arguments(linear_cross_entropy):
    assert linear_cross_entropy(*(tensor.to("meta") for tensor in drawn()), 3).device.type == "meta"
    arguments = drawn()
    before = [argument.clone() for argument in arguments]
    first = linear_cross_entropy(*arguments, 3)
    assert all(map(torch.equal, arguments, before))
    assert torch.equal(linear_cross_entropy(*arguments, 3), first)
