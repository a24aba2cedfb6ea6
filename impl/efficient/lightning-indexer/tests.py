"""The choice is judged by the scores it found, since ties are free; attention by an oracle over the chosen rows."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def assert_best(chosen, q_i, k_i, w, k):
    """Check that each row holds the best visible keys, each once, and -1 elsewhere."""
    q_i, k_i, w = q_i.double(), k_i.double(), w.double()
    (B, T), S = q_i.shape[:2], k_i.shape[1]
    assert chosen.shape == (B, T, k) and chosen.dtype == torch.int64
    for b in range(B):
        for t in range(T):
            visible = t + S - T + 1
            scores = (w[b, t] * (k_i[b, :visible] @ q_i[b, t].mT).relu()).sum(-1)
            row = chosen[b, t].tolist()
            keys = [key for key in row if key != -1]
            assert len(keys) == len(set(keys)) == min(k, visible)
            assert all(0 <= key < visible for key in keys)
            best = scores.sort(descending=True).values[: len(keys)]
            assert_close(scores[keys].sort(descending=True).values, best, rtol=1e-6, atol=1e-6)


def scorer(B=2, T=5, S=8, Hi=3, di=4, dtype=torch.float32):
    return tuple(torch.randn(shape).to(dtype) for shape in ((B, T, Hi, di), (B, S, di), (B, T, Hi)))


def expected(q, kv, idx):
    q, kv = q.double(), kv.double()
    out = q.new_zeros(q.shape)
    for b in range(q.shape[0]):
        for t in range(q.shape[2]):
            rows = kv[b, idx[b, t][idx[b, t] >= 0]]
            if len(rows):
                weights = (q[b, :, t] @ rows.mT / q.shape[-1] ** 0.5).softmax(-1)
                out[b, :, t] = weights @ rows
    return out


def assert_right(actual, q, kv, idx):
    """Compare with the oracle; 16 bits may be off by half a unit in the last place, and by float32's own error."""
    assert actual.dtype == q.dtype
    unit = torch.finfo(q.dtype).eps if q.dtype.itemsize == 2 else 0.0
    tolerance = 1e-12 if q.dtype == torch.float64 else 1e-5
    assert_close(actual.double(), expected(q, kv, idx), rtol=tolerance + unit / 2, atol=tolerance)


def attended(B=2, H=3, T=5, S=8, d=4, n=4, dtype=torch.float32):
    """Return q, kv and distinct keys in any order, with -1 strewn in anywhere."""
    idx = torch.rand(B, T, max(S, n)).argsort(-1)[..., :n]
    idx = idx.masked_fill((idx >= S) | (torch.rand(B, T, n) < 0.3), -1)
    return torch.randn(B, H, T, d).to(dtype), torch.randn(B, S, d).to(dtype), idx


@given(
    st.integers(1, 2), st.integers(1, 5), st.integers(0, 4), st.integers(1, 3), st.integers(1, 4), st.integers(1, 11)
)  # fmt: skip
def test_the_best_visible_keys_are_chosen(index_topk, B, T, past, Hi, di, k):
    q_i, k_i, w = scorer(B, T, T + past, Hi, di)
    assert_best(index_topk(q_i, k_i, w, k), q_i, k_i, w, k)


def test_a_negative_weight_ranks_keys_below_those_that_match_no_head(index_topk):
    q_i, k_i = torch.ones(1, 1, 1, 1), torch.tensor([2.0, -1.0, 1.0, 3.0]).reshape(1, 4, 1)
    assert index_topk(q_i, k_i, -torch.ones(1, 1, 1), 1).tolist() == [[[1]]]
    assert index_topk(q_i, k_i, torch.ones(1, 1, 1), 1).tolist() == [[[3]]]


def test_more_queries_than_keys_are_an_error(index_topk):
    with pytest.raises(ValueError):
        index_topk(*scorer(T=4, S=3), 2)


def test_scores_of_16_bit_inputs_are_float32(index_topk):
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        q_i, k_i, w = scorer(T=40, S=60, di=16, dtype=dtype)
        assert_best(index_topk(q_i, k_i, w, 5), q_i, k_i, w, 5)


@given(st.integers(1, 2), st.integers(1, 3), st.integers(1, 4), st.integers(1, 8), st.integers(1, 5), st.integers(1, 9))
def test_attention_reads_the_chosen_rows_alone(sparse_mqa, B, H, T, S, d, n):
    q, kv, idx = attended(B, H, T, S, d, n)
    assert_right(sparse_mqa(q, kv, idx), q, kv, idx)


def test_rows_that_were_not_chosen_have_no_influence_and_no_gradient(sparse_mqa):
    q, kv, idx = attended()
    idx = idx.masked_fill(idx < 2, -1)  # rows 0 and 1 are never chosen; -1 must not stand for a row
    idx[0, 0] = -1
    changed = kv.clone()
    changed[:, :2] = 1e4
    q.requires_grad_(), changed.requires_grad_()
    out = sparse_mqa(q, changed, idx)
    assert_close(out, sparse_mqa(q, kv, idx))
    q_slope, slope = torch.autograd.grad(out, (q, changed), torch.randn_like(out))
    assert not out[0, :, 0].any() and not q_slope[0, :, 0].any() and not slope[:, :2].any()
    assert q_slope.isfinite().all() and slope.isfinite().all()


def test_gradients_and_digits(sparse_mqa):
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        q, kv, idx = attended(dtype=dtype)
        q.requires_grad_(), kv.requires_grad_()
        up = torch.randn_like(q)
        actual = torch.autograd.grad(sparse_mqa(q, kv, idx), (q, kv), up)
        exact = torch.autograd.grad(expected(q, kv, idx), (q, kv), up.double())
        assert_close(actual, exact, rtol=tolerance, atol=tolerance)
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        q, kv, idx = attended(T=20, S=30, d=16, n=12, dtype=dtype)
        for scale in (1.0, 100.0):
            assert_right(sparse_mqa((scale * q).to(dtype), kv, idx), (scale * q).to(dtype), kv, idx)


def test_any_memory_layout(index_topk, sparse_mqa):
    q_i, k_i = torch.randn(2, 3, 5, 4).transpose(1, 2), torch.randn(2, 8, 8)[..., ::2]
    w = torch.randn(3).expand(2, 5, 3)
    assert_best(index_topk(q_i, k_i, w, 3), q_i, k_i, w, 3)
    q, kv = torch.randn(2, 5, 3, 4).transpose(1, 2), torch.randn(1, 8, 4).expand(2, 8, 4)
    idx = torch.tensor([3, -1, 0, 6])[None, None, ::2].expand(2, 5, 2)
    assert_right(sparse_mqa(q, kv, idx), q, kv, idx)


def test_devices_arguments_and_memory(index_topk, sparse_mqa):
    for call, tensors, more in ((index_topk, scorer(), (3,)), (sparse_mqa, attended(n=1), ())):
        assert call(*(x.to("meta") for x in tensors), *more).device.type == "meta"
        before = [x.clone() for x in tensors]
        result = call(*tensors, *more)
        kept = result.clone()
        assert all(map(torch.equal, tensors, before))
        [x.zero_() for x in tensors]
        assert torch.equal(result, kept)
