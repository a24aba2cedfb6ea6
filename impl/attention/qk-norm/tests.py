"""An oracle in float64, and what the norm implies: the lengths of queries and keys drop out, logits are bounded."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(q, k, v, gq, gk, mask=None, eps=1e-6):
    q, k, v, gq, gk = (t.double() for t in (q, k, v, gq, gk))
    q, k = (x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * gain for x, gain in ((q, gq), (k, gk)))
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    visible = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    empty = ~visible.any(-1, keepdim=True)
    return scores.masked_fill(~visible & ~empty, -math.inf).softmax(-1).masked_fill(empty, 0.0) @ v


def inputs(B=2, H=3, T=5, d=8, dtype=torch.float32):
    heads = [torch.randn(B, H, T, d) for _ in range(3)]
    return [t.to(dtype) for t in (*heads, torch.rand(d) + 0.5, torch.randn(d))]


def masks(B=2, H=3, T=5):
    """Return masks that broadcast in every way; some queries see nothing."""
    shapes = [(T, T), (B, H, T, T), (B, 1, 1, T), (H, 1, T), (H, T, 1), (T,)]
    return [torch.rand(shape) < 0.6 for shape in shapes]


def assert_right(actual, arguments, mask=None, eps=1e-6, rtol=1e-4, atol=1e-5):
    assert actual.dtype == arguments[0].dtype and actual.shape == arguments[2].shape
    assert_close(actual.double(), expected(*arguments, mask, eps), rtol=rtol, atol=atol)


@given(*[st.integers(1, 4)] * 4, st.sampled_from([1e-12, 1e-6, 0.1, 1.0]))
def test_any_sizes_and_any_eps(qk_norm_attention, B, H, T, d, eps):
    arguments, mask = inputs(B, H, T, d), torch.rand(B, 1, T, T) < 0.5
    assert_right(qk_norm_attention(*arguments, eps=eps), arguments, eps=eps)
    assert_right(qk_norm_attention(*arguments, mask, eps), arguments, mask, eps)


def test_eps_lies_inside_the_root_and_is_a_millionth_by_default(qk_norm_attention):
    q, k, v, gq, gk = inputs()
    arguments = [1e-3 * q, 1e-3 * k, v, gq, gk]
    assert_right(qk_norm_attention(*arguments), arguments)
    assert_right(qk_norm_attention(*arguments, eps=1e-8), arguments, eps=1e-8)


def test_the_length_of_a_query_or_key_drops_out(qk_norm_attention):
    q, k, v, gq, gk = inputs()
    out = qk_norm_attention(q, k, v, gq, gk, eps=1e-12)
    for size in (30.0, 1e3, 1e15):
        assert_close(qk_norm_attention(size * q, size * k, v, gq, gk, eps=1e-12), out, rtol=1e-4, atol=1e-5)


def test_values_are_not_normalised(qk_norm_attention):
    q, k, v, gq, gk = inputs()
    assert_close(qk_norm_attention(q, k, 10 * v, gq, gk), 10 * qk_norm_attention(q, k, v, gq, gk), rtol=1e-4, atol=1e-4)


def test_any_shape_of_mask(qk_norm_attention):
    arguments = inputs()
    for mask in masks():
        assert_right(qk_norm_attention(*arguments, mask), arguments, mask)


def test_a_hidden_key_has_no_influence(qk_norm_attention):
    q, k, v, gq, gk = inputs()
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    changed_k, changed_v = k.clone(), v.clone()
    changed_k[..., -1, :], changed_v[..., -1, :] = 1e4, -1e4
    out = qk_norm_attention(q, changed_k, changed_v, gq, gk, mask)
    assert_close(out[..., :-1, :], qk_norm_attention(q, k, v, gq, gk, mask)[..., :-1, :])


def test_a_query_that_sees_nothing_gives_zeros_with_zero_gradients(qk_norm_attention):
    leaves = [t.requires_grad_() for t in inputs()]
    mask = (torch.arange(5) != 2)[:, None].expand(5, 5)
    out = qk_norm_attention(*leaves, mask)
    assert torch.equal(out[..., 2, :], torch.zeros(2, 3, 8))
    for slope in torch.autograd.grad(out[..., 2, :].sum(), leaves, retain_graph=True):
        assert torch.equal(slope, torch.zeros_like(slope))
    for slope in torch.autograd.grad(out.sum(), leaves):
        assert slope.isfinite().all()


def test_large_gains_are_stable(qk_norm_attention):
    q, k, v, gq, gk = inputs()
    for size in (30.0, 1e3):
        arguments = [q, k, v, size * gq, gk]
        for mask in (None, *masks()):
            assert_right(qk_norm_attention(*arguments, mask), arguments, mask, rtol=1e-3, atol=1e-2)


def test_large_gains_do_not_reveal_a_hidden_key(qk_norm_attention):
    # With d = 1 a normalised vector is a sign: visible logits are −30,000, hidden ones 30,000.
    q, k, v = torch.ones(1, 1, 3, 1), torch.tensor([-1.0, 1.0, -1.0]).reshape(1, 1, 3, 1), torch.randn(1, 1, 3, 1)
    gain = torch.tensor([173.0])
    arguments, mask = [q, k, v, gain, gain], torch.tensor([True, False, True])
    assert_right(qk_norm_attention(*arguments, mask), arguments, mask, rtol=1e-2, atol=1e-2)


def test_gradients_are_those_of_the_oracle(qk_norm_attention):
    leaves, up = [t.requires_grad_() for t in inputs(dtype=torch.float64)], torch.randn(2, 3, 5, 8, dtype=torch.float64)
    for mask in (None, *masks()):
        for eps in (1e-6, 0.5):
            actual = torch.autograd.grad(qk_norm_attention(*leaves, mask, eps), leaves, up)
            assert_close(actual, torch.autograd.grad(expected(*leaves, mask, eps), leaves, up))


def test_16_bits_are_computed_in_float32_and_rounded_once(qk_norm_attention):
    for dtype in (torch.float16, torch.bfloat16):
        q, k, v, gq, gk = inputs(T=16, d=32, dtype=dtype)
        for size in (1e-3, 1.0, 1e4):  # squares of 10⁴ pass 65,504, those of 10⁻³ lose their digits
            arguments = [(size * q.float()).to(dtype), (size * k.float()).to(dtype), v, gq, gk]
            for mask in (None, torch.rand(16, 16) < 0.6):
                out = qk_norm_attention(*arguments, mask)
                assert_right(out, arguments, mask, rtol=0.52 * torch.finfo(dtype).eps, atol=1e-5)


def test_transposed_strided_and_expanded_inputs(qk_norm_attention):
    q, k = torch.randn(2, 5, 3, 8).transpose(1, 2), torch.randn(2, 3, 8, 5).mT
    v, gain = torch.randn(1, 1, 5, 16)[..., ::2].expand(2, 3, 5, 8), torch.randn(16)[::2]
    arguments, mask = [q, k, v, gain, torch.tensor([1.5]).expand(8)], (torch.rand(5, 5) < 0.6).t()
    assert_right(qk_norm_attention(*arguments, mask), arguments, mask)


def test_the_result_lies_on_the_device_of_the_inputs(qk_norm_attention):
    arguments = [t.to("meta") for t in inputs()]
    for mask in (None, masks()[0].to("meta")):
        assert qk_norm_attention(*arguments, mask).device.type == "meta"


def test_arguments_stay_and_the_result_is_new(qk_norm_attention):
    arguments = [*inputs(T=1), torch.tensor([[True]])]
    before = [t.clone() for t in arguments]
    first = qk_norm_attention(*arguments)
    kept = first.clone()
    qk_norm_attention(*arguments).add_(1.0)
    assert_close(arguments, before, rtol=0, atol=0)
    assert torch.equal(first, kept)
