"""Adds a small constant to q in the ratio.
比值里的 q 加了一个小常数。

symptom: Rare tokens are rejected although p = q.
症状：p = q 时也会拒绝罕见的 token。

cards: dec-09
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def draw(weights: Tensor, generator: torch.Generator) -> int:
    """An index with probability proportional to its weight."""
    return int(torch.multinomial(weights, 1, generator=generator))


def spec_step(
    target_probs: Tensor,  # (γ+1, V)
    draft_probs: Tensor,  # (γ, V)
    draft_tokens: Tensor,  # (γ,)
    generator: torch.Generator,
) -> tuple[int, int]:
    count = draft_tokens.shape[0]
    for i in range(count):
        token = int(draft_tokens[i])
        p, q = target_probs[i].double(), draft_probs[i].double()  # (V,)
        u = torch.rand((), generator=generator, dtype=torch.float64)
        if not bool(u * (q[token] + 1e-6) < p[token]):
            residual = (p - q).clamp(min=0.0)  # (V,)
            return i, draw(residual, generator)
    return count, draw(target_probs[count].double(), generator)
