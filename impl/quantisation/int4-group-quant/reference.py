"""Int4 in groups: runs of `group` weights along the input share a scale, and two codes share a byte.

Decisions:
- symmetric: the group's largest magnitude becomes ±7; −8 is never used, so every code has a negative;
- groups run along I, the dimension that a matrix product sums over, so outliers of one input channel stay in one group;
- a code is a nibble in two's complement, element 2j in the low half of byte j, element 2j + 1 in the high half;
- a group of zeros has codes 0 (and scale 1 instead of a division by 0);
- 16-bit weights are widened first, scales are float32 at least.

Frantar et al. 2022, arXiv 2210.17323, Section 5 (groups); the packing is the common one.
"""

from __future__ import annotations

import torch
from torch import Tensor


def quantize_int4(w: Tensor, group: int) -> tuple[Tensor, Tensor]:
    O, I = w.shape
    if I % 2 or I % group:
        raise ValueError(f"I = {I} must be even and a multiple of the group, {group}")

    x = w.to(torch.promote_types(w.dtype, torch.float32)).reshape(O, I // group, group)
    scales = x.abs().amax(dim=-1) / 7  # (O, I/group)
    scales = torch.where(scales == 0, torch.ones_like(scales), scales)

    q = (x / scales[..., None]).round().to(torch.int16).reshape(O, I)  # −7 … 7
    low, high = q[:, 0::2] & 0xF, q[:, 1::2] & 0xF  # (O, I/2) each, 0 … 15
    return (low | high << 4).to(torch.uint8), scales
