"""Autograd through plain attention in float64 is the oracle; neither the tiles nor hidden keys may show."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def attention(q, k, v, causal):
    """Return o and the log-sum-exp of each row; 0 and -inf for rows that see no key."""
    T, S = q.shape[2], k.shape[2]
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones(T, S, dtype=torch.bool).triu(S - T + 1), -math.inf)
    empty = max(T - S, 0) if causal else 0
    seeing = scores[:, :, empty:]
    o = torch.cat((torch.zeros_like(q[:, :, :empty]), seeing.softmax(-1) @ v), dim=2)
    return o, torch.cat((torch.full_like(q[:, :, :empty, 0], -math.inf), seeing.logsumexp(-1)), dim=2)


def saved(q, k, v, causal=False):
    """Return what a forward pass would hand on: o in the dtype of q, lse in float32 at least."""
    o, lse = attention(q.double(), k.double(), v.double(), causal)
    return o.to(q.dtype), lse.to(torch.promote_types(q.dtype, torch.float32))


def expected(q, k, v, do, causal=False):
    tensors = [x.detach().double().requires_grad_() for x in (q, k, v)]
    return torch.autograd.grad(attention(*tensors, causal)[0], tensors, do.double())


def assert_right(actual, exact, dtype, tolerance=2e-5):
    """Compare relative to the largest entry; 16 bits may be off by half a unit in the last place."""
    assert len(actual) == 3
    tolerance = 1e-11 if dtype == torch.float64 else tolerance
    for ours, right in zip(actual, exact, strict=True):
        assert ours.dtype == dtype and ours.shape == right.shape
        unit = torch.finfo(dtype).eps if dtype.itemsize == 2 else 0.0
        assert_close(ours.double(), right, rtol=unit / 2, atol=tolerance * max(1.0, right.abs().max().item()))


def drawn(B=2, H=2, T=7, S=9, d=4, dtype=torch.float32):
    """Return q, k, v, do."""
    return tuple(torch.randn(B, H, length, d).to(dtype) for length in (T, S, S, T))


@given(
    st.integers(1, 2), st.integers(1, 2), st.integers(1, 9), st.integers(1, 9), st.integers(1, 5), st.integers(1, 10),
    st.booleans(), st.sampled_from([torch.float32, torch.float64]),
)  # fmt: skip
def test_any_shape_any_block_and_any_mask(flash_attention_backward, B, H, T, S, d, block, causal, dtype):
    q, k, v, do = drawn(B, H, T, S, d, dtype)
    actual = flash_attention_backward(q, k, v, *saved(q, k, v, causal), do, causal, block)
    assert_right(actual, expected(q, k, v, do, causal), q.dtype)


def test_full_attention_in_blocks_of_64_by_default(flash_attention_backward):
    for T, S in ((3, 5), (64, 64), (70, 130)):
        q, k, v, do = drawn(1, 1, T, S)
        assert_right(flash_attention_backward(q, k, v, *saved(q, k, v), do), expected(q, k, v, do), q.dtype)


def test_hidden_keys_get_nothing_from_earlier_queries(flash_attention_backward):
    q, k, v, do = drawn()
    o, lse = saved(q, k, v, True)
    for i in range(6):
        only_i = torch.zeros_like(do)
        only_i[:, :, i] = do[:, :, i]
        dq, dk, dv = flash_attention_backward(q, k, v, o, lse, only_i, True, 2)
        assert not dk[:, :, i + 3 :].any() and not dv[:, :, i + 3 :].any()
        assert not dq[:, :, :i].any() and not dq[:, :, i + 1 :].any()


def test_queries_without_a_key_contribute_nothing(flash_attention_backward):
    q, k, v, do = drawn(T=9, S=4)
    for block in (1, 2, 4, 64):
        actual = flash_attention_backward(q, k, v, *saved(q, k, v, True), do, True, block)
        assert_right(actual, expected(q, k, v, do, True), q.dtype)
        assert not actual[0][:, :, :5].any()


def test_scores_far_from_zero(flash_attention_backward):
    for level in (200.0, -200.0):
        q, k, v, do = drawn()
        q[..., 0], k[..., 0] = 2.0, level
        actual = flash_attention_backward(q, k, v, *saved(q, k, v), do, False, 4)
        # The roundings of scores and lse enter the weights, and dq and dk multiply them by the level.
        assert_right(actual, expected(q, k, v, do), q.dtype, tolerance=1e-2)


def test_16_bits_are_computed_in_float32(flash_attention_backward):
    for dtype in (torch.float16, torch.bfloat16):
        for causal in (False, True):
            q, k, v, do = drawn(T=20, S=30, d=16, dtype=dtype)
            o, lse = saved(q, k, v, causal)
            # The same in float32, from the same rounded o.
            exact = flash_attention_backward(*(x.float() for x in (q, k, v, o, lse, do)), causal, 8)
            actual = flash_attention_backward(q, k, v, o, lse, do, causal, 8)
            assert_right(actual, [x.double() for x in exact], dtype, tolerance=1e-5)


def test_any_memory_layout(flash_attention_backward):
    q, k = torch.randn(2, 7, 2, 4).transpose(1, 2), torch.randn(2, 2, 9, 8)[..., ::2]
    v, do = torch.randn(1, 1, 9, 4).expand(2, 2, 9, 4), torch.randn(4).expand(2, 2, 7, 4)
    o, lse = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in saved(q, k, v, True))
    assert_right(flash_attention_backward(q, k, v, o, lse, do, True, 3), expected(q, k, v, do, True), q.dtype)


def test_device_and_arguments(flash_attention_backward):
    for causal in (False, True):
        q, k, v, do = drawn()
        arguments = (q, k, v, *saved(q, k, v, causal), do)
        before = [x.clone() for x in arguments]
        first = flash_attention_backward(*arguments, causal, 4)
        assert all(map(torch.equal, arguments, before))
        assert all(map(torch.equal, flash_attention_backward(*arguments, causal, 4), first))
        on_meta = flash_attention_backward(*(x.to("meta") for x in arguments), causal, 4)
        assert [x.device.type for x in on_meta] == ["meta"] * 3
