"""One step of speculative sampling: keep a prefix of the draft so that the output has exactly the target's distribution.

A draft model q proposes γ tokens, the target model p has scored them all at once. Decisions:
- token i is accepted with probability min(1, p/q), each with its own draw;
- the first rejection ends the step: the next token comes from the residual max(0, p − q), normalised, which adds exactly the
  mass that acceptance leaves out: min(p, q) + max(0, p − q) = p;
- if all are accepted, the target's last row gives one token for free;
- u < p/q is tested as u·q < p, so that p = 0 is never accepted and nothing is divided by a small q;
- all randomness comes from `generator`.

Leviathan, Kalman and Matias 2023, arXiv 2211.17192, §2.3; Chen et al. 2023, arXiv 2302.01318.
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
            return i, draw(residual, generator)
    return count, draw(target_probs[count].double(), generator)
