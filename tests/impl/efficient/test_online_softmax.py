"""Compare running maximum and denominator with torch's softmax and logsumexp, for every split of a row."""

from __future__ import annotations

import math

import pytest
import torch

from tests.impl.conftest import IMPL, load

stats = load(IMPL / "efficient/online-softmax/reference.py").online_softmax_stats
CUTS = [[7], [1] * 7, [3, 4], [1, 5, 1], [2, 2, 3]]


@pytest.mark.parametrize("widths", CUTS)
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_they_give_torchs_softmax_however_the_row_is_cut(widths, scale):
    x = (torch.randn(2, 3, 7, dtype=torch.float64) * scale).requires_grad_()
    m, l = stats(iter(x.split(widths, -1)))
    assert torch.equal(m, x.amax(-1))
    assert torch.allclose(torch.exp(x - m[..., None]) / l[..., None], torch.softmax(x, -1), rtol=1e-12)
    assert torch.allclose(m + l.log(), x.logsumexp(-1), rtol=1e-12)
    (mine,), (due,) = (torch.autograd.grad(y.sum(), x, retain_graph=True) for y in (m + l.log(), x.logsumexp(-1)))
    assert torch.allclose(mine, due, atol=1e-12)


@pytest.mark.parametrize("widths", CUTS)
def test_hidden_keys_count_for_nothing(widths):
    x = torch.randn(4, 7, dtype=torch.float64)
    x[0], x[1, :3], x[2, 3:] = -math.inf, -math.inf, -math.inf
    m, l = stats(iter(x.split(widths, -1)))
    assert torch.equal(m, x.amax(-1)) and m[0] == -math.inf and l[0] == 0
    assert torch.allclose((m + l.log())[1:], x[1:].logsumexp(-1))


def test_gradients_of_both_are_those_of_finite_differences():
    x = torch.randn(3, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda y: stats(y.split([1, 3, 2], -1)), x)
