"""Compare chunks with the recurrence, token by token, in values and gradients."""

from __future__ import annotations

import pytest
import torch

from tests.impl.conftest import IMPL, load

gated_delta_rule = load(IMPL / "efficient/gated-delta-rule/reference.py").gated_delta_rule


def recurrence(q, k, v, beta, g, S):
    g, out = g if g.dim() == 4 else g[..., None], []
    for t in range(q.shape[2]):
        S = g[:, :, t, :, None].exp() * S
        write = beta[:, :, t, None] * (v[:, :, t] - (S * k[:, :, t, :, None]).sum(2))
        S = S + k[:, :, t, :, None] * write[:, :, None]
        out.append((S * q[:, :, t, :, None]).sum(2))
    return torch.stack(out, 2), S


@pytest.mark.parametrize("chunk", [1, 3, 7, 64])
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("strength", [0.0, 1.0, 60.0])
def test_every_chunk_is_the_recurrence(chunk, per_channel, strength):
    B, H, T, d, dv = 2, 2, 7, 3, 4
    shapes = [
        (B, H, T, d),
        (B, H, T, d),
        (B, H, T, dv),
        (B, H, T),
        (B, H, T, d) if per_channel else (B, H, T),
        (B, H, d, dv),
    ]
    q, k, v, beta, g, S0 = (torch.rand(shape, dtype=torch.float64) for shape in shapes)
    leaves = [q, k / d**0.5, v, beta, -strength * g, S0]
    leaves = [leaf.requires_grad_() for leaf in leaves]
    got, due = gated_delta_rule(*leaves, chunk=chunk), recurrence(*leaves)
    weights = [torch.randn_like(part) for part in due]
    gradients = [
        torch.autograd.grad(sum((w * p).sum() for w, p in zip(weights, parts, strict=True)), leaves)
        for parts in (got, due)
    ]
    for a, b in zip([*got, *gradients[0]], [*due, *gradients[1]], strict=True):
        assert torch.allclose(a, b, atol=1e-10)
