"""Compare the tiles with autograd through plain attention."""

from __future__ import annotations

import pytest
import torch

from tests.impl.conftest import IMPL, load

flash_attention_backward = load(IMPL / "efficient/flash-backward/reference.py").flash_attention_backward


@pytest.mark.parametrize("block", [1, 3, 64])
@pytest.mark.parametrize(("T", "S", "causal"), [(1, 1, False), (5, 7, False), (5, 7, True), (7, 7, True), (7, 3, True)])
def test_every_block_size_gives_the_gradients_of_autograd(T, S, causal, block):
    q, k, v = (torch.randn(2, 3, count, 4, dtype=torch.float64, requires_grad=True) for count in (T, S, S))
    scores = q @ k.mT / 2
    hidden = torch.ones(T, S).triu(S - T + 1).bool() & causal
    lse = scores.masked_fill(hidden, -torch.inf).logsumexp(-1)
    o = scores.masked_fill(hidden, -1e30).softmax(-1).masked_fill(hidden, 0.0) @ v
    do = torch.randn_like(o)
    due = torch.autograd.grad(o, (q, k, v), do)
    got = flash_attention_backward(*(x.detach() for x in (q, k, v, o, lse)), do, causal, block)
    assert all(torch.allclose(a, b) for a, b in zip(got, due, strict=True))
