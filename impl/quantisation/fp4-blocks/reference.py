"""FP4 in blocks: eight magnitudes and a sign, and a scale for each short block that maps its maximum to the largest level.

E2M1 has 0, 0.5, 1, 1.5, 2, 3, 4, 6. The two formats differ in the scale. Decisions:
- NVFP4: blocks of 16, a scale in E4M3, which reaches only from 2⁻⁹ to 448; so one float32 number for the whole tensor
  brings the largest block scale to 448. Codes use the rounded scale, not the exact one;
- MXFP4: blocks of 32, a scale that is a power of two, from the maximum's exponent less 2, the exponent of 4; values above 6
  are then cut to 6;
- nearest level, ties to the even index, as floating point rounds: even indices have mantissa bit 0;
- a scale of 0 divides nothing: zeros have code 0.

Rouhani et al. 2023, arXiv 2310.10537 (MX); NVIDIA 2025, arXiv 2509.25149 (NVFP4).
"""

from __future__ import annotations

import torch
from torch import Tensor

MIDPOINTS = (0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0)


def packed(y: Tensor) -> Tensor:
    """Codes of numbers that are divided by their scales, (..., I), two to a byte."""
    middle = torch.tensor(MIDPOINTS, dtype=y.dtype, device=y.device)
    low = torch.bucketize(y.abs(), middle)  # midpoints below
    high = torch.bucketize(y.abs(), middle, right=True)  # and those met exactly
    codes = torch.where(low % 2 == 0, low, high) + 8 * torch.signbit(y)
    return (codes[..., 0::2] | codes[..., 1::2] << 4).to(torch.uint8)  # (..., I/2)


def divided(blocks: Tensor, scale: Tensor) -> Tensor:
    return torch.where(scale == 0, torch.zeros_like(blocks), blocks / scale).flatten(-2)


def quantize_nvfp4(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    blocks = x.to(torch.promote_types(x.dtype, torch.float32)).unflatten(-1, (-1, 16))  # (..., I/16, 16)
    largest = blocks.abs().amax(dim=-1, keepdim=True)  # (..., I/16, 1)
    g = largest.max() / (6 * 448)
    s = torch.where(g == 0, torch.zeros_like(largest), largest / (6 * g))
    scales = s.clamp(max=448).to(torch.float8_e4m3fn)
    return packed(divided(blocks, scales.to(blocks.dtype) * g)), scales.squeeze(-1), g.to(torch.float32)


def quantize_mxfp4(x: Tensor) -> tuple[Tensor, Tensor]:
    blocks = x.to(torch.promote_types(x.dtype, torch.float32)).unflatten(-1, (-1, 32))  # (..., I/32, 32)
    largest = blocks.abs().amax(dim=-1, keepdim=True)
    exponent = torch.frexp(largest).exponent - 3  # ⌊log₂⌋ − 2; frexp's mantissa is in ½ … 1
    scale = torch.ldexp(torch.ones_like(largest), exponent)  # (..., I/32, 1)
    return packed(divided(blocks, scale)), (exponent + 127).to(torch.uint8).squeeze(-1)
