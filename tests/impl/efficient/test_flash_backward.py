"""Gradients by tiles against autograd through plain attention, for every block size and length."""

from __future__ import annotations

import math

import pytest
import torch

from tests.impl.conftest import IMPL, load

flash_attention_backward = load(IMPL / "efficient/flash-backward/reference.py").flash_attention_backward
flash_attention = load(IMPL / "efficient/flash-attention/reference.py").flash_attention


def plain(q, k, v, causal):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(k.shape[2] - q.shape[2] + 1) if causal else None
    scores = scores if hidden is None else scores.masked_fill(hidden, -math.inf)
    return torch.softmax(scores, -1) @ v


@pytest.mark.parametrize(("T", "S"), [(1, 1), (5, 5), (4, 9), (7, 8)])
@pytest.mark.parametrize("block", [1, 3, 4, 64])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("size", [1.0, 10.0])
def test_tiles_give_the_gradients_of_plain_attention(T, S, block, causal, size):
    q, k, v = ((torch.randn(2, 3, n, 4, dtype=torch.float64) * size).requires_grad_() for n in (T, S, S))
    do = torch.randn(2, 3, T, 4, dtype=torch.float64)
    due = torch.autograd.grad((plain(q, k, v, causal) * do).sum(), (q, k, v))
    with torch.no_grad():
        o, lse = flash_attention(q, k, v, 2, 3, causal)
        mine = flash_attention_backward(q, k, v, o, lse, do, causal, block)
    assert all(torch.allclose(a, b, rtol=1e-8, atol=1e-9) for a, b in zip(mine, due, strict=True))


def test_rows_without_a_key_pass_nothing_on():
    q, k, v, do = (torch.randn(1, 1, n, 2, dtype=torch.float64) for n in (5, 3, 3, 5))
    o, lse = flash_attention(q, k, v, causal=True)
    dq, dk, dv = flash_attention_backward(q, k, v, o, lse, do, True, 2)
    assert torch.equal(dq[:, :, :2], torch.zeros(1, 1, 2, 2, dtype=torch.float64))
    rest = flash_attention_backward(q[:, :, 2:], k, v, o[:, :, 2:], lse[:, :, 2:], do[:, :, 2:], True, 2)
    assert all(torch.allclose(a, b) for a, b in zip((dq[:, :, 2:], dk, dv), rest, strict=True))
