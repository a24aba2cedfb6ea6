"""Rotary position embedding: each pair of components turns by an angle proportional to its token's position.

Rotations keep lengths, and two of them compose by adding their angles; so ⟨R_m q, R_n k⟩ depends on m − n alone, although
every token is turned by its own absolute position. Decisions:
- pair i turns by position · base^(−2i/d): d/2 different speeds, the first pair fastest;
- (a, b) → (a·cos − b·sin, a·sin + b·cos), counter-clockwise;
- "interleaved" (GPT-J) pairs the components 2i and 2i+1, "half" (GPT-NeoX, Llama in Hugging Face) pairs i and i + d/2:
  the same idea, but weights trained for one layout do not work in the other;
- angles are float32 at least: bfloat16 cannot even represent the position 257.

Su et al. 2021, arXiv 2104.09864, §3.2.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor


def apply_rope(
    x: Tensor, positions: Tensor, base: float = 10000.0, layout: Literal["interleaved", "half"] = "interleaved"
) -> Tensor:
    B, _, T, d = x.shape
    wide = torch.promote_types(x.dtype, torch.float32)

    exponent = torch.arange(0, d, 2, device=x.device, dtype=wide) / d  # (d/2,), 2i/d
    speed = base**-exponent  # (d/2,), radians per position
    if positions.dim() == 1:
        positions = positions.expand(B, T)
    angle = positions[:, None, :, None].to(wide) * speed  # (B, 1, T, d/2)
    cos, sin = angle.cos(), angle.sin()

    a, b = pairs(x.to(wide), layout)  # (B, H, T, d/2) each
    turned = a * cos - b * sin, a * sin + b * cos

    if layout == "interleaved":
        result = torch.stack(turned, dim=-1).flatten(-2)  # (B, H, T, d)
    else:
        result = torch.cat(turned, dim=-1)  # (B, H, T, d)
    return result.to(x.dtype)


def pairs(x: Tensor, layout: str) -> tuple[Tensor, Tensor]:
    if layout == "interleaved":
        return x[..., 0::2], x[..., 1::2]
    half = x.shape[-1] // 2
    return x[..., :half], x[..., half:]
