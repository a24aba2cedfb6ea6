"""Stops after four drafted tokens.
最多只看四个草稿 token。

symptom: The rest of a longer draft is never checked.
症状：草稿更长时，后面的没人检查。

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
    for i in range(min(count, 4)):
        token = int(draft_tokens[i])
        p, q = target_probs[i].double(), draft_probs[i].double()  # (V,)
        u = torch.rand((), generator=generator, dtype=torch.float64)
        if not bool(u * q[token] < p[token]):
            residual = (p - q).clamp(min=0.0)  # (V,)
            return i, draw(residual, generator)
    return count, draw(target_probs[count].double(), generator)
