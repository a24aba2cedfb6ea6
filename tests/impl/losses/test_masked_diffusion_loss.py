"""Compare the masked diffusion loss with single numbers, and with the law that determines its weight."""

from __future__ import annotations

import math

import pytest
import torch

from tests.impl.conftest import IMPL, load

mdlm_loss = load(IMPL / "losses/masked-diffusion-loss/reference.py").mdlm_loss


def one_by_one(logits, ids, mask, t):
    B, T = ids.shape
    total = 0.0
    for b in range(B):
        for i in range(T):
            if mask[b, i]:
                row = [float(z) for z in logits[b, i]]
                top = max(row)
                lse = top + math.log(sum(math.exp(z - top) for z in row))
                total += (lse - row[ids[b, i]]) / float(t[b])
    return total / (B * T)


@pytest.mark.parametrize(("B", "T", "V", "size"), [(1, 1, 1, 1.0), (2, 5, 3, 1.0), (3, 4, 7, 30.0), (2, 3, 5, 1e4)])
def test_it_is_the_sum_over_single_places(B, T, V, size):
    logits = torch.randn(B, T, V, dtype=torch.float64) * size
    ids, mask = torch.randint(V, (B, T)), torch.rand(B, T) < 0.6
    mask[0] = False
    t = torch.rand(B, dtype=torch.float64).clamp(min=0.1)
    t[0] = 0.0
    assert float(mdlm_loss(logits, ids, mask, t)) == pytest.approx(one_by_one(logits, ids, mask, t), rel=1e-12)


def test_blind_logits_cost_the_full_cross_entropy_on_average_over_masks():
    logits = torch.randn(1, 20, 9, dtype=torch.float64).expand(4000, -1, -1)
    ids = torch.randint(9, (1, 20)).expand(4000, -1)
    t = (torch.arange(4000, dtype=torch.float64) + 0.5) / 4000
    mask = torch.rand(4000, 20) < t[:, None]
    due = torch.nn.functional.cross_entropy(logits[0], ids[0])
    assert float(mdlm_loss(logits, ids, mask, t)) == pytest.approx(float(due), rel=0.1)
