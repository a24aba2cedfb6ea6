"""QLoRA: the frozen weight is stored in 4 bits and rebuilt for each product; beside it LoRA learns in float32.

    y = x·Ŵᵀ + α/r · (x·Aᵀ)·Bᵀ

Decisions:
- blocks of the flattened weight are divided by their largest magnitude; each number becomes the nearest NF4 level;
- codes come from the exact absmax; only the stored absmax is rounded (double quantisation);
- double quantisation: absmax − mean as int8 with one float32 scale for 256 blocks, 32 bits a block become 8 and a bit;
- Ŵ exists during one product only; the gradient of x goes through it, so it is rebuilt under autograd, from constants;
- A at random, B zero: the layer starts as its quantised base.

Dettmers et al. 2023, arXiv 2305.14314, sections 3 and appendix E.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

LEVELS = [-1.0, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.09105004, 0.0]
LEVELS += [0.0795803, 0.1609302, 0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0]
GROUP = 256


class QLoRALinear(nn.Module):
    def __init__(self, weight: Tensor, r: int, alpha: float, block: int = 64, double_quant: bool = True) -> None:
        super().__init__()
        self.size, self.scale = weight.shape, alpha / r
        blocks = weight.detach().float().reshape(-1, block)  # (n, block)
        absmax = blocks.abs().amax(dim=-1)  # (n,)
        levels = torch.tensor(LEVELS, device=weight.device)
        unit = blocks / absmax.masked_fill(absmax == 0, 1.0)[:, None]
        codes = torch.bucketize(unit, (levels[1:] + levels[:-1]) / 2).to(torch.uint8).reshape(-1, 2)
        self.register_buffer("codes", codes[:, 0] << 4 | codes[:, 1])  # (n·block / 2,)
        if double_quant:
            self.register_buffer("mean", absmax.mean())
            rest = absmax - self.mean
            scales = torch.stack([group.abs().amax() / 127 for group in rest.split(GROUP)])  # (n / 256,)
            each = scales.masked_fill(scales == 0, 1.0).repeat_interleave(GROUP)[: len(rest)]
            self.register_buffer("scales", scales)
            absmax = (rest / each).round().to(torch.int8)
        self.register_buffer("absmax", absmax)
        self.lora_A = nn.Parameter(torch.empty(r, weight.shape[1], device=weight.device))
        self.lora_B = nn.Parameter(torch.zeros(weight.shape[0], r, device=weight.device))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))

    def _weight(self) -> Tensor:
        """Ŵ (out, in), in float32."""
        codes = torch.stack([self.codes >> 4, self.codes & 15], dim=-1).long()
        absmax = self.absmax
        if absmax.dtype == torch.int8:
            absmax = absmax * self.scales.repeat_interleave(GROUP)[: len(absmax)] + self.mean
        levels = torch.tensor(LEVELS, device=absmax.device)
        return (levels[codes].view(len(absmax), -1) * absmax[:, None]).view(self.size)

    def forward(self, x: Tensor) -> Tensor:
        wide = torch.promote_types(x.dtype, torch.float32)
        thin = x.to(wide) @ self.lora_A.T.to(wide) @ self.lora_B.T.to(wide)  # (..., out)
        return (x @ self._weight().T.to(x.dtype) + self.scale * thin).to(x.dtype)
