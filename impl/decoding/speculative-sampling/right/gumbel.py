"""Gumbel trick; a row of zeros behind the draft makes the bonus a residual too."""
import torch
from torch import Tensor
from typing import Tuple


def spec_step(target_probs: Tensor, draft_probs: Tensor, draft_tokens: Tensor, generator: torch.Generator) -> Tuple[int, int]:
    p = target_probs.to(torch.float64)
    q = torch.cat([draft_probs.to(torch.float64), torch.zeros(1, p.shape[1], dtype=torch.float64)])
    accepted = 0
    for token in draft_tokens.tolist():
        ratio = p[accepted, token] / q[accepted, token]
        if torch.rand(1, generator=generator, dtype=torch.float64).item() >= ratio:
            break
        accepted += 1
    residual = torch.clamp(p[accepted] - q[accepted], min=0)
    noise = -torch.log(-torch.log(torch.rand(residual.shape, generator=generator, dtype=torch.float64).clamp_min(1e-300)))
    return accepted, int(torch.argmax(residual.log() + noise))
