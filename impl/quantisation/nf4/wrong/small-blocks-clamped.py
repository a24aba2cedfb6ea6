"""Divides by absmax, or by 10⁻⁴ where that is more.
除以 absmax，但不小于 10⁻⁴。

symptom: Blocks of small weights come back as zeros.
症状：权重很小的块，解码后成了零。

cards: prec-16
rung: solved
"""

import torch
from torch import Tensor


def _levels(device: torch.device) -> Tensor:
    top = 0.9677083
    pos = torch.special.ndtri(torch.linspace(top, 0.5, 9, dtype=torch.float64)[:8])
    neg = -torch.special.ndtri(torch.linspace(top, 0.5, 8, dtype=torch.float64)[:7])
    levels = torch.cat([neg, torch.zeros(1, dtype=torch.float64), pos]).sort().values
    return (levels / pos[0]).to(device)


@torch.no_grad()
def nf4_quantize(w: Tensor, block: int = 64) -> tuple[Tensor, Tensor]:
    work = torch.promote_types(w.dtype, torch.float32)
    x = w.detach().to(work)
    levels = _levels(x.device).to(work)
    blocks = x.unflatten(-1, (x.shape[-1] // block, block))
    absmax = blocks.abs().amax(-1)
    scale = absmax.clamp(min=1e-4)
    normed = blocks / scale.unsqueeze(-1)
    cuts = (levels[1:] + levels[:-1]) / 2
    codes = torch.bucketize(normed.contiguous(), cuts).to(torch.uint8)
    codes = codes.flatten(-2)
    low, high = codes[..., 0::2], codes[..., 1::2]
    packed = low | (high << 4)
    return packed, absmax
