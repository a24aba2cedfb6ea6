"""Draws the noise from 1 to 65,536.
噪声取自 1 到 65536。

symptom: One exact number in 65,536 moves.
症状：每 65536 个本来精确的数里有一个会动。

cards: prec-06
rung: solved
"""
import math

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, generator: torch.Generator | None = None) -> Tensor:
    x = x.detach().contiguous()
    bits = x.view(torch.int32)
    where = x.device if generator is None else generator.device
    noise = torch.randint(1, (1 << 16) + 1, x.shape, generator=generator, dtype=torch.int32, device=where).to(x.device)
    out = ((bits + noise) & -65536).view(torch.float32)
    return torch.where(torch.isnan(x), torch.full_like(x, math.nan), out)
