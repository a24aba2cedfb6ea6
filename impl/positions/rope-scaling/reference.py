"""RoPE's frequencies for contexts longer than the trained one: position interpolation, NTK-aware scaling, YaRN.

All three bring phases back into the range seen in training. Decisions:
- linear divides every frequency by s: all positions are compressed, neighbours too;
- ntk raises the base so that the slowest pair is divided by exactly s and the fastest one stays;
- yarn keeps pairs that made more than beta_fast turns in the old context, divides those with fewer than beta_slow by s,
  and blends linearly in the pair's index between, as the released code does;
- yarn also sharpens the softmax: cos and sin are multiplied by 0.1·ln s + 1, so logits by its square.

Peng et al. 2023, arXiv 2309.00071; Chen et al. 2023, arXiv 2306.15595.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor


def rope_inv_freq(d: int, base: float, scaling: dict[str, Any]) -> tuple[Tensor, float]:
    kind, s = scaling["type"], scaling["factor"]
    if kind == "linear":
        return (frequencies(d, base) / s).float(), 1.0
    if kind == "ntk":
        return frequencies(d, base * s ** (d / (d - 2))).float(), 1.0

    keep = kept_share(d, base, scaling)  # (d/2,)
    f = frequencies(d, base)  # (d/2,)
    attn_scale = 0.1 * math.log(s) + 1.0 if s > 1 else 1.0
    return (keep * f + (1 - keep) * f / s).float(), attn_scale


def frequencies(d: int, base: float) -> Tensor:
    return base ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)  # (d/2,), radians per position


def kept_share(d: int, base: float, scaling: dict[str, Any]) -> Tensor:
    def pair_with(turns: float) -> float:
        """Return the index of the pair that makes `turns` turns in the trained context."""
        return d * math.log(scaling["original_max_position"] / (2 * math.pi * turns)) / (2 * math.log(base))

    lo = max(math.floor(pair_with(scaling.get("beta_fast", 32))), 0)
    hi = min(math.ceil(pair_with(scaling.get("beta_slow", 1))), d - 1)
    pair = torch.arange(d // 2, dtype=torch.float64)
    return 1 - ((pair - lo) / (hi - lo)).clamp(0, 1)  # (d/2,), 1 for the fast pairs, 0 for the slow ones
