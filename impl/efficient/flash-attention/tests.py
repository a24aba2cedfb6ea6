"""Plain softmax attention in float64 is the oracle; neither the tiles nor the size of the scores may show."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(q, k, v, causal=False):
    q, k, v = q.double(), k.double(), v.double()
    T, S = q.shape[2], k.shape[2]
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones(T, S, dtype=torch.bool).triu(S - T + 1), -math.inf)
    empty = max(T - S, 0) if causal else 0  # the first rows see no key
    seeing = scores[:, :, empty:]
    out = torch.cat((torch.zeros_like(q[:, :, :empty]), seeing.softmax(-1) @ v), dim=2)
    return out, torch.cat((torch.full_like(q[:, :, :empty, 0], -math.inf), seeing.logsumexp(-1)), dim=2)


def assert_right(actual, q, k, v, causal=False, tolerance=2e-5):
    """Compare with the oracle. 16 bits may be off by half a unit in the last place; their lse may come in float32."""
    assert len(actual) == 2
    tolerance = 1e-12 if q.dtype == torch.float64 else tolerance
    wide = torch.float32 if q.dtype.itemsize == 2 else q.dtype
    for ours, exact, dtypes in zip(actual, expected(q, k, v, causal), ((q.dtype,), (q.dtype, wide)), strict=True):
        assert ours.dtype in dtypes
        unit = torch.finfo(ours.dtype).eps if ours.dtype.itemsize == 2 else 0.0
        assert_close(ours.double(), exact, rtol=tolerance + unit / 2, atol=tolerance)


def drawn(B=2, H=2, T=7, S=9, d=4, dtype=torch.float32):
    return tuple(torch.randn(B, H, length, d).to(dtype) for length in (T, S, S))


@given(
    st.integers(1, 2), st.integers(1, 2), st.integers(1, 9), st.integers(1, 9), st.integers(1, 5),
    st.integers(1, 10), st.integers(1, 10), st.booleans(),
)  # fmt: skip
def test_any_shape_any_blocks_and_any_mask(flash_attention, B, H, T, S, d, block_q, block_k, causal):
    q, k, v = drawn(B, H, T, S, d)
    assert_right(flash_attention(q, k, v, block_q, block_k, causal), q, k, v, causal)


def test_the_default_blocks_and_full_attention_by_default(flash_attention):
    for T, S in ((3, 5), (64, 64), (70, 130)):
        q, k, v = drawn(1, 1, T, S)
        assert_right(flash_attention(q, k, v), q, k, v)
        assert_right(flash_attention(q, k, v, causal=True), q, k, v, True)


def test_hidden_keys_have_no_influence(flash_attention):
    q, k, v = drawn()
    before = flash_attention(q, k, v, 3, 2, True)
    for i in range(7):
        last = i + 9 - 7
        changed_k, changed_v = k.clone(), v.clone()
        changed_k[:, :, last + 1 :], changed_v[:, :, last + 1 :] = 40.0, -1e6
        after = flash_attention(q, changed_k, changed_v, 3, 2, True)
        for ours, exact in zip(after, before, strict=True):
            assert_close(ours[:, :, : i + 1], exact[:, :, : i + 1])


def test_rows_without_a_key(flash_attention):
    q, k, v = (x.requires_grad_() for x in drawn(T=9, S=4))
    for block_q, block_k in ((1, 1), (2, 3), (4, 4), (64, 64)):
        out, lse = flash_attention(q, k, v, block_q, block_k, True)
        assert_right((out, lse), q, k, v, True)
        slopes = torch.autograd.grad((out, lse), (q, k, v), (torch.randn_like(out), torch.randn_like(lse)))
        assert all(slope.isfinite().all() for slope in slopes) and not slopes[0][:, :, :5].any()


def test_scores_far_from_zero(flash_attention):
    # The first feature of q and k sets the level of all scores, the others spread them a little.
    for level in (200.0, -200.0, -1000.0, -1e4, -3e4):
        q, k, v = drawn()
        q[..., 0], k[..., 0] = 2.0, level
        for causal in (False, True):
            # One rounding of the score enters the weights.
            tolerance = max(2e-5, 3e-7 * abs(level))
            assert_right(flash_attention(q, k, v, 2, 2, causal), q, k, v, causal, tolerance)


def test_scores_that_grow_or_fall_from_block_to_block(flash_attention):
    for slope in (60.0, -60.0, 200.0, -200.0):
        q, k, v = torch.ones(1, 1, 4, 1), slope * torch.arange(9.0).reshape(1, 1, 9, 1), torch.randn(1, 1, 9, 1)
        for causal in (False, True):
            assert_right(flash_attention(q, k, v, 2, 2, causal), q, k, v, causal)


def test_gradients_through_both_results(flash_attention):
    for T, S, causal in ((7, 9, False), (7, 9, True), (9, 4, True)):
        tensors = [x.requires_grad_() for x in drawn(T=T, S=S, dtype=torch.float64)]
        up = torch.randn(2, 2, T, 4, dtype=torch.float64), torch.randn(2, 2, T, dtype=torch.float64)
        exact = torch.autograd.grad(expected(*tensors, causal), tensors, up)
        for block_q, block_k in ((2, 3), (64, 64)):
            actual = torch.autograd.grad(flash_attention(*tensors, block_q, block_k, causal), tensors, up)
            assert_close(actual, exact, rtol=1e-10, atol=1e-10)


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(flash_attention):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        for causal in (False, True):
            q, k, v = drawn(T=20, S=40, d=16, dtype=dtype)
            assert_right(flash_attention(q, k, v, 8, 4, causal), q, k, v, causal)


def test_layout_device_arguments_and_memory(flash_attention):
    q, k = torch.randn(2, 7, 2, 4).transpose(1, 2), torch.randn(2, 2, 9, 8)[..., ::2]
    v = torch.randn(1, 1, 9, 4).expand(2, 2, 9, 4)
    assert_right(flash_attention(q, k, v, 3, 2, True), q, k, v, True)
    for causal in (False, True):
        results = flash_attention(*(x.to("meta") for x in drawn()), 3, 2, causal)
        assert [x.device.type for x in results] == ["meta"] * 2
    for S in (1, 9):  # a single key: out equals v, in other memory
        tensors = drawn(T=1, S=S)
        before = [x.clone() for x in tensors]
        results = flash_attention(*tensors)
        kept = [x.clone() for x in results]
        assert all(map(torch.equal, tensors, before))
        [x.zero_() for x in tensors]
        assert all(map(torch.equal, results, kept))
