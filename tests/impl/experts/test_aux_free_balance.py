"""Compare the bias update with single numbers, and check its purpose: a skewed stream becomes balanced."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from ..conftest import IMPL, load

update_bias = load(IMPL / "experts/aux-free-balance/reference.py").update_bias


@pytest.mark.parametrize("counts", [[9], [3, 5, 4], [0, 0, 12, 1], [2, 3], [0, 0], [2**24 + 1] * 3, [2**30 + 1, 2**30]])
def test_every_expert_steps_against_its_load(counts: list[int]) -> None:
    bias = torch.randn(len(counts), dtype=torch.float64)
    mean = Fraction(sum(counts), len(counts))
    due = [b + 0.25 * ((mean > c) - (mean < c)) for b, c in zip(bias.tolist(), counts, strict=True)]
    assert update_bias(bias, torch.tensor(counts), 0.25).tolist() == pytest.approx(due)


def test_a_skewed_stream_is_balanced_after_four_hundred_steps() -> None:
    E, k, N = 16, 2, 512
    skew, bias, summed = torch.linspace(-0.5, 0.5, E), torch.zeros(E), torch.zeros(E)
    for step in range(500):
        scores = torch.sigmoid(torch.randn(N, E) + skew)
        counts = torch.bincount((scores + bias).topk(k).indices.flatten(), minlength=E)
        bias = update_bias(bias, counts, 1e-3)
        summed += counts * (step >= 400)
    unbiased = torch.bincount(scores.topk(k).indices.flatten(), minlength=E)
    assert unbiased.max() / unbiased.float().mean() > 1.5
    assert summed.max() / summed.mean() < 1.1


def test_no_graph_is_kept() -> None:
    bias = torch.zeros(2, requires_grad=True)
    assert not update_bias(bias, torch.tensor([1.0, 2.0], requires_grad=True), 0.1).requires_grad
