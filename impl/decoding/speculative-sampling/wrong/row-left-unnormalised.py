"""Draws by the running sum of a row not normalised.
行没有归一化，就按累加和抽样。

symptom: In 16 bits what is missing to 1 goes to the last token, even at probability 0.
症状：16 位下，离 1 差的部分全归最后一个 token，哪怕概率为 0。

cards: dec-10
rung: hardened
"""

import torch
from torch import Tensor


def _inverse_cdf(weights: Tensor, u: Tensor) -> int:
    cum = weights.cumsum(0)
    return min(int((cum <= u).sum()), weights.numel() - 1)


def spec_step(
    target_probs: Tensor,
    draft_probs: Tensor,
    draft_tokens: Tensor,
    generator: torch.Generator,
) -> tuple[int, int]:
    """All numbers at once: gamma for the decisions, one for the token."""
    gamma = draft_tokens.numel()
    u = torch.rand(gamma + 1, dtype=torch.float64, device=generator.device, generator=generator)
    u = u.to(target_probs.device)
    p, q = target_probs.to(torch.float64), draft_probs.to(torch.float64)
    at = draft_tokens.reshape(gamma, 1)
    px, qx = p[:gamma].gather(1, at).squeeze(1), q.gather(1, at).squeeze(1)
    accepted = int((u[:gamma] < px / qx).long().cumprod(0).sum())
    row = p[accepted]
    if accepted < gamma:
        residual = torch.relu(row - q[accepted])
        residual = residual / residual.sum().clamp(min=1e-300)
        row = torch.where(residual.sum() > 0, residual, row)
    return accepted, _inverse_cdf(row, u[gamma])
