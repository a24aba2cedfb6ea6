"""torch's softmax in float64 as the oracle, and what must hold for any slice: it sums to 1, a constant drops out."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(x, dim=-1):
    """Return the softmax in float64; a slice of nothing but −inf becomes zeros."""
    x = x.double()
    empty = (x == -math.inf).all(dim, keepdim=True)
    return x.masked_fill(empty, 0.0).softmax(dim).masked_fill(empty, 0.0)


def assert_right(actual, x, dim=-1, rtol=None):
    assert actual.dtype == x.dtype and actual.shape == x.shape
    # 16 bits: one rounding, of half a unit in the last place.
    wide = x.dtype in (torch.float32, torch.float64)
    rtol = rtol or {torch.float64: 1e-10, torch.float32: 1e-5}.get(x.dtype, 0.52 * torch.finfo(x.dtype).eps)
    assert_close(actual.double(), expected(x, dim), rtol=rtol, atol=1e-37 if wide else 6e-8)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_any_shape_and_any_dim(softmax, shape, data):
    x, dim = torch.randn(shape), data.draw(st.integers(-len(shape), len(shape) - 1))
    assert_right(softmax(x, dim), x, dim)


def test_the_last_dimension_is_the_default(softmax):
    x = torch.randn(3, 4, 5)
    assert_right(softmax(x), x, -1)


def test_every_slice_sums_to_one(softmax):
    for size in (1.0, 100.0, 1e4):
        x = size * torch.randn(6, 500)
        assert_close(softmax(x).sum(-1), torch.ones(6))
        assert_close(softmax(x, 0).sum(0), torch.ones(500))


def test_one_entry_gets_everything(softmax):
    for value in (-1e4, 0.0, 1e4):
        assert torch.equal(softmax(torch.full((3, 1), value)), torch.ones(3, 1))


def test_a_constant_drops_out(softmax):
    x = torch.randint(-8, 8, (4, 6)).float()
    for shift in (-1e4, -200.0, 200.0, 1e4):
        assert_close(softmax(x + shift), softmax(x))


def test_neighbours_may_lie_at_opposite_ends(softmax):
    for dim in (0, 1):
        x = torch.randn(6, 6)
        x.select(1 - dim, 0).add_(1e4)
        x.select(1 - dim, 1).sub_(1e4)
        assert_right(softmax(x, dim), x, dim)


def test_tiny_probabilities_keep_their_digits(softmax):
    x = torch.tensor([0.0, -20.0, -50.0, -80.0])
    assert_right(softmax(x), x)


def test_minus_infinity_gets_exactly_0_with_zero_gradient(softmax):
    x = torch.randn(5, 6)
    x[:, 0], x[1, :5] = -math.inf, -math.inf
    x.requires_grad_()
    out, up = softmax(x), torch.randn(5, 6)
    assert (out[x == -math.inf] == 0).all()
    assert_right(out.detach(), x.detach())
    (slope,) = torch.autograd.grad(out, x, up)
    assert slope.isfinite().all() and (slope[x == -math.inf] == 0).all()


def test_a_slice_of_minus_infinity_gives_zeros_with_zero_gradient(softmax):
    for dim in (0, 1):
        x = torch.randn(4, 4)
        x.select(1 - dim, 2).fill_(-math.inf)
        x.requires_grad_()
        out = softmax(x, dim)
        assert_right(out.detach(), x.detach(), dim)
        (slope,) = torch.autograd.grad(out, x, torch.randn(4, 4))
        assert slope.isfinite().all() and (slope.select(1 - dim, 2) == 0).all()


def test_gradients_are_those_of_the_oracle(softmax):
    for size in (1.0, 100.0, 1e4):
        for dim in (0, 1, -1):
            leaves = [(size * torch.randn(2, 3, 4, dtype=torch.float64)).requires_grad_() for _ in range(2)]
            up = torch.randn(2, 3, 4, dtype=torch.float64)
            # All results are there before the first backward pass: none may overwrite what another needs.
            actual = [torch.autograd.grad(out, x, up) for out, x in [(softmax(x, dim), x) for x in leaves]]
            assert_close(actual, [torch.autograd.grad(expected(x, dim), x, up) for x in leaves])


def test_the_gradient_of_a_slice_sums_to_zero(softmax):
    x = torch.randn(5, 6, requires_grad=True)
    (slope,) = torch.autograd.grad(softmax(x), x, torch.randn(5, 6))
    assert_close(slope.sum(-1), torch.zeros(5), rtol=0, atol=1e-5)


def test_other_dtypes(softmax):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        for size in (1.0, 10.0, 1e3):
            x = (size * torch.randn(8, 50)).to(dtype)
            assert_right(softmax(x), x)
            assert_right(softmax(x, 0), x, 0)


def test_float16_slices_may_be_wide_and_long(softmax):
    wide = torch.tensor([[6e4, -6e4, 6e4], [-6e4, -6e4, -6e4], [6e4, -math.inf, 5.0]]).half()
    assert_right(softmax(wide), wide)
    long = torch.zeros(2, 70_000).half()
    assert_right(softmax(long), long)


def test_any_memory_layout(softmax):
    for x in (
        torch.randn(6, 4).t(),
        torch.randn(4, 12)[:, ::2],
        torch.randn(1, 6).expand(4, 6),
        torch.randn(4, 1).expand(4, 6),
    ):
        for dim in (0, 1):
            assert_right(softmax(x, dim), x, dim)


def test_the_result_lies_on_the_device_of_the_input(softmax):
    assert softmax(torch.ones(2, 3, device="meta"), 0).device.type == "meta"


def test_the_argument_stays_and_the_result_is_new(softmax):
    for dtype in (torch.float32, torch.bfloat16):
        for shape in ((4,), (3, 4), (2, 3, 4), (2, 2, 3, 4)):
            x = torch.randn(shape).to(dtype)
            x[0] = -math.inf
            before = x.clone()
            first = softmax(x)
            kept = first.clone()
            softmax(x + 1).add_(1.0)
            assert torch.equal(x, before) and torch.equal(first, kept)
