"""Draws from the residual with the number that has just rejected the token.
用刚刚拒绝 token 的那个随机数，从残差里取样。

symptom: A rejecting number is large, so tokens early in the vocabulary come too rarely.
症状：导致拒绝的随机数偏大，词表靠前的 token 出现得太少。

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
        if not bool(u * q[token] < p[token]):
            residual = (p - q).clamp(min=0.0)  # (V,)
            cumulated = (residual / residual.sum()).cumsum(0)
            return i, int(torch.searchsorted(cumulated, u.reshape(1), right=True).clamp(max=len(residual) - 1))
    return count, draw(target_probs[count].double(), generator)
