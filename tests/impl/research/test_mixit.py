"""Compare MixiT's layer with sums over single numbers, and check its laws."""

from __future__ import annotations

import pytest
import torch

from tests.impl.conftest import IMPL, load

MixiTAttention = load(IMPL / "research/mixit/reference.py").MixiTAttention


@pytest.mark.parametrize(("T", "D", "H"), [(1, 1, 1), (4, 6, 3), (7, 6, 1), (5, 4, 4)])
def test_it_is_the_sum_over_earlier_tokens(T, D, H):
    layer, x, d = MixiTAttention(D, H, 7, 3).double(), torch.randn(2, T, D, dtype=torch.float64), D // H
    values, due = x @ layer.w_v.weight.T, torch.zeros(2, T, D, dtype=torch.float64)
    for h in range(H):
        for i in range(T):
            for j in range(i + 1):
                due[:, i, h * d : (h + 1) * d] += layer.mix[h, i, j] * values[:, j, h * d : (h + 1) * d]
    assert torch.allclose(layer(x), due @ layer.w_o.weight.T, rtol=1e-12, atol=1e-12)


def test_it_is_linear_and_causal():
    layer, x, y = MixiTAttention(6, 2, 9, 0).double(), *torch.randn(2, 2, 5, 6, dtype=torch.float64)
    assert torch.allclose(layer(x + 2 * y), layer(x) + 2 * layer(y))
    assert torch.allclose(layer(x)[:, :3], layer(x[:, :3]))


def test_the_matrix_follows_from_the_seed_alone():
    before = torch.random.get_rng_state()
    first, again, other = (MixiTAttention(4, 2, 6, seed).mix for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other) and not torch.equal(first[0], first[1])
    assert torch.equal(first, first.tril()) and bool((first[:, 5] != 0).all())
    assert not torch.equal(before, torch.random.get_rng_state())  # the weights alone are drawn from it


def test_rows_keep_the_variance():
    mix = MixiTAttention(4, 64, 64, 5).mix
    assert torch.allclose(mix.square().sum(-1).mean(0), torch.ones(64), atol=0.8)
    assert torch.allclose(mix.square().sum(-1).mean(), torch.ones(()), atol=0.05)
