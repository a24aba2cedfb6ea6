"""Compare Sinkhorn and the mHC step with loops over single numbers, and check the laws of the constraint."""

from __future__ import annotations

import pytest
import torch

from tests.impl.conftest import IMPL, load

reference = load(IMPL / "blocks/hyper-connections/reference.py")


@pytest.mark.parametrize(("n", "iters", "level"), [(1, 1, 0.0), (3, 1, 0.0), (4, 2, 1000.0), (4, 20, -1000.0)])
def test_rows_then_columns_number_by_number(n, iters, level):
    logits = torch.randn(n, n, dtype=torch.float64) * 3
    P = [[float(z.exp()) for z in row] for row in logits]
    for _ in range(iters):
        P = [[p / sum(row) for p in row] for row in P]
        sums = [sum(column) for column in zip(*P, strict=True)]
        P = [[p / total for p, total in zip(row, sums, strict=True)] for row in P]
    assert torch.allclose(reference.sinkhorn(logits + level, iters), torch.tensor(P, dtype=torch.float64), rtol=1e-9)


def test_a_step_number_by_number():
    B, S, n, D = 2, 3, 4, 5
    x, pre, post = torch.randn(B, S, n, D).double(), torch.randn(B, S, n).double(), torch.randn(B, S, n).double()
    comb = torch.randn(B, S, n, n).double()
    got = reference.mhc_step(x, pre, post, comb, torch.tanh)
    for b, s, i, d in [(0, 0, 0, 0), (1, 2, 3, 4), (0, 1, 2, 3)]:
        y = torch.tanh(sum(pre[b, s, k] * x[b, s, k, d] for k in range(n)))
        due = sum(comb[b, s, i, j] * x[b, s, j, d] for j in range(n)) + post[b, s, i] * y
        assert float(got[b, s, i, d]) == pytest.approx(float(due), rel=1e-12)


def test_doubly_stochastic_streams_keep_their_mean_and_do_not_grow():
    x, nothing = torch.randn(1, 6, 4, 8).double(), torch.zeros(1, 6, 4).double()
    comb = reference.sinkhorn(torch.randn(1, 6, 4, 4).double(), 400)
    assert torch.allclose(comb.sum(-1), torch.ones(1, 6, 4).double())
    got = reference.mhc_step(x, nothing, nothing, comb, torch.tanh)
    assert torch.allclose(got.mean(2), x.mean(2))
    assert bool((got.norm(dim=2) <= x.norm(dim=2) + 1e-9).all())
