"""Compare the indexer with single numbers, and both steps together with full causal attention."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from tests.impl.conftest import IMPL, load

reference = load(IMPL / "efficient/lightning-indexer/reference.py")


@pytest.mark.parametrize(("T", "S", "k"), [(1, 1, 1), (4, 4, 2), (3, 7, 3), (5, 6, 9)])
def test_it_chooses_the_best_visible_keys(T, S, k):
    q, keys, w = torch.randn(2, T, 3, 4).double(), torch.randn(2, S, 4).double(), torch.randn(2, T, 3).double()
    got = reference.index_topk(q, keys, w, k)
    assert got.shape == (2, T, k)
    for b in range(2):
        for t in range(T):
            scores = {
                s: sum(float(w[b, t, h]) * max(0.0, float(q[b, t, h] @ keys[b, s])) for h in range(3))
                for s in range(t + S - T + 1)
            }
            chosen = [s for s in got[b, t].tolist() if s >= 0]
            best = sorted(scores.values(), reverse=True)[:k]
            assert len(set(chosen)) == len(chosen) == len(best)
            assert sorted((scores[s] for s in chosen), reverse=True) == pytest.approx(best)


def test_all_keys_chosen_is_full_causal_attention():
    q, kv = torch.randn(2, 3, 5, 4).double(), torch.randn(2, 8, 4).double()
    idx = reference.index_topk(torch.randn(2, 5, 2, 3), torch.randn(2, 8, 3), torch.randn(2, 5, 2), 11)
    keys = kv[:, None].expand(2, 3, 8, 4)
    due = scaled_dot_product_attention(q, keys, keys, attn_mask=torch.ones(5, 8).tril(3).bool())
    assert torch.allclose(reference.sparse_mqa(q, kv, idx), due)


def test_rows_without_entries_are_zero_and_send_no_gradient():
    q, kv = torch.randn(1, 2, 2, 3, requires_grad=True), torch.randn(1, 4, 3, requires_grad=True)
    out = reference.sparse_mqa(q, kv, torch.tensor([[[-1, -1], [-1, 2]]]))
    out.sum().backward()
    assert not out[:, :, 0].any() and not q.grad[:, :, 0].any()
    assert kv.grad.abs().sum(-1).nonzero().tolist() == [[0, 2]]
