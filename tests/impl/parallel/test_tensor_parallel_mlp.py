"""Compare the split MLP with the whole one, and check the communication between ranks."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from tests.impl.conftest import IMPL, load

tp_mlp = load(IMPL / "parallel/tensor-parallel-mlp/reference.py").tp_mlp


@pytest.mark.parametrize("widths", [(5,), (2, 2), (1, 4, 3), (1, 1, 1, 1, 1)])
@pytest.mark.parametrize("act", [F.gelu, torch.sigmoid, torch.tanh])
def test_the_ranks_compute_what_one_device_does(widths, act):
    total, D = sum(widths), 3
    x, w1, b1, w2, b2 = (
        torch.randn(*s, dtype=torch.float64) for s in ((2, 4, D), (D, total), (total,), (total, D), (D,))
    )
    sent = []

    def all_reduce(partials):
        sent.append([tuple(part.shape) for part in partials])
        return torch.stack(partials).sum(0)

    got = tp_mlp(x, w1.split(widths, 1), b1.split(widths), w2.split(widths, 0), b2, act, all_reduce)
    assert torch.allclose(got, act(x @ w1 + b1) @ w2 + b2, rtol=1e-12, atol=1e-12)
    assert sent == [[(2, 4, D)] * len(widths)]
