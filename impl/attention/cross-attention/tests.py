"""An oracle in float64, one head at a time, and what must hold for any memory: padding and order have no influence."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(x, memory, wq, wk, wv, wo, n_heads, memory_mask=None):
    x, memory, wq, wk, wv, wo = (t.double() for t in (x, memory, wq, wk, wv, wo))
    B, _, D = x.shape
    d = D // n_heads
    rows = []
    for b in range(B):
        real = slice(None) if memory_mask is None else memory_mask[b]
        heads = []
        for h in range(n_heads):
            head = slice(h * d, (h + 1) * d)
            q, k, v = x[b] @ wq[:, head], memory[b, real] @ wk[:, head], memory[b, real] @ wv[:, head]
            heads.append((q @ k.mT / math.sqrt(d)).softmax(-1) @ v)  # (T, 0) @ (0, d) gives zeros
        rows.append(torch.cat(heads, -1) @ wo)
    return torch.stack(rows)


def inputs(B=2, T=3, S=5, D=8, Dm=6, dtype=torch.float32):
    shapes = [(B, T, D), (B, S, Dm), (D, D), (Dm, D), (Dm, D), (D, D)]
    tensors = [torch.randn(shape) for shape in shapes[:2]] + [
        torch.randn(shape) / shape[0] ** 0.5 for shape in shapes[2:]
    ]
    return [t.to(dtype) for t in tensors]


def mask(B=2, S=5):
    """Hide some positions, the first among them; the last memory is all padding."""
    real = torch.rand(B, S) < 0.6
    real[:, 0], real[:, -1], real[-1] = False, True, False
    return real


def assert_right(actual, arguments, n_heads, memory_mask=None, rtol=1e-4, atol=1e-5):
    assert actual.dtype == arguments[0].dtype and actual.shape == arguments[0].shape
    assert_close(actual.double(), expected(*arguments, n_heads, memory_mask), rtol=rtol, atol=atol)


@given(*[st.integers(1, 4)] * 5, st.integers(1, 7))
def test_any_sizes(cross_attention, B, T, S, H, d, Dm):
    arguments = inputs(B, T, S, H * d, Dm)
    assert_right(cross_attention(*arguments, H), arguments, H)
    real = torch.rand(B, S) < 0.5
    assert_right(cross_attention(*arguments, H, real), arguments, H, real)


def test_heads_are_contiguous_slices(cross_attention):
    arguments = inputs(T=7, S=11, D=24, Dm=10)
    for H in (1, 2, 4, 24):
        assert_right(cross_attention(*arguments, H), arguments, H)


def test_padding_has_no_influence(cross_attention):
    arguments, real = inputs(), mask()
    out = cross_attention(*arguments, 2, real)
    for filling in (0.0, 1e4, -1e4):
        padded = [arguments[0], arguments[1].masked_fill(~real[..., None], filling), *arguments[2:]]
        assert_close(cross_attention(*padded, 2, real), out, rtol=1e-4, atol=1e-5)


def test_padding_equals_a_shorter_memory(cross_attention):
    x, memory, *weights = inputs(B=1, S=7)
    real = torch.arange(7) < 4
    assert_close(cross_attention(x, memory, *weights, 2, real[None]), cross_attention(x, memory[:, :4], *weights, 2))


def test_a_memory_of_padding_gives_zeros_with_zero_gradients(cross_attention):
    leaves = [t.requires_grad_() for t in inputs()]
    real = torch.tensor([[True] * 5, [False] * 5])
    out = cross_attention(*leaves, 2, real)
    assert torch.equal(out[1], torch.zeros(3, 8))
    for slope in torch.autograd.grad(out[1].sum(), leaves, retain_graph=True):
        assert torch.equal(slope, torch.zeros_like(slope))
    for slope in torch.autograd.grad(out.sum(), leaves):
        assert slope.isfinite().all()


def test_the_order_of_the_memory_does_not_matter(cross_attention):
    x, memory, *weights = inputs()
    real, order = mask(), torch.randperm(5)
    out = cross_attention(x, memory, *weights, 2, real)
    assert_close(cross_attention(x, memory[:, order], *weights, 2, real[:, order]), out, rtol=1e-4, atol=1e-5)


def test_large_scores_are_stable(cross_attention):
    x, memory, wq, *weights = inputs(T=6, S=9)
    for size in (50.0, 1e3):
        for real in (None, mask(S=9)):
            arguments = [x, memory, size * wq, *weights]
            assert_right(cross_attention(*arguments, 2, real), arguments, 2, real, 1e-3, 1e-3)


def test_a_hidden_score_of_30000_stays_hidden_behind_minus_30000(cross_attention):
    one = torch.ones(1, 1)
    x, memory = torch.full((1, 2, 1), 300.0), torch.tensor([-100.0, 100.0, -100.001]).reshape(1, 3, 1)
    arguments, real = [x, memory, one, one, one, one], torch.tensor([[True, False, True]])
    assert_right(cross_attention(*arguments, 1, real), arguments, 1, real, 1e-3, 1e-3)


def test_gradients_are_those_of_the_oracle(cross_attention):
    leaves, up = [t.requires_grad_() for t in inputs(dtype=torch.float64)], torch.randn(2, 3, 8, dtype=torch.float64)
    for H in (1, 4):
        for real in (None, mask()):
            actual = torch.autograd.grad(cross_attention(*leaves, H, real), leaves, up)
            assert_close(actual, torch.autograd.grad(expected(*leaves, H, real), leaves, up))


def test_16_bits_are_computed_in_float32_and_rounded_once(cross_attention):
    for dtype in (torch.float16, torch.bfloat16):
        for real in (None, mask(S=20)):
            arguments = inputs(T=8, S=20, D=32, Dm=16, dtype=dtype)
            out = cross_attention(*arguments, 4, real)
            assert_right(out, arguments, 4, real, 0.52 * torch.finfo(dtype).eps, 1e-5)


def test_transposed_strided_and_expanded_inputs(cross_attention):
    x, memory, *weights = inputs()
    x, memory = torch.randn(3, 2, 8).transpose(0, 1), torch.randn(1, 5, 12)[..., ::2].expand(2, 5, 6)
    arguments = [x, memory, *(w.t().contiguous().t() for w in weights)]
    real = mask()[:1].expand(2, 5)
    assert_right(cross_attention(*arguments, 2, real), arguments, 2, real)


def test_the_result_lies_on_the_device_of_the_inputs(cross_attention):
    arguments = [t.to("meta") for t in inputs()]
    assert cross_attention(*arguments, 2).device.type == "meta"


def test_arguments_stay_and_the_result_is_new(cross_attention):
    arguments = [*inputs(), 2, mask()]
    before = [t.clone() for t in arguments if isinstance(t, torch.Tensor)]
    first = cross_attention(*arguments)
    kept = first.clone()
    cross_attention(*arguments).add_(1.0)
    assert_close([t for t in arguments if isinstance(t, torch.Tensor)], before, rtol=0, atol=0)
    assert torch.equal(first, kept)
