"""A product with 4-bit weights: the kernel's result, in plain torch.

The kernel's own decisions:
- a tile of bytes is loaded, taken apart, shifted and scaled in registers, and multiplied at once: the full weight exists
  nowhere; decoding, which is bound by the bytes of the weights, gets faster;
- codes are 0 … 15 without a sign, so a zero point says which of them is 0; the difference needs a sign;
- packed as in int4-group-quant: along K, element 2j in the low half of byte j, element 2j + 1 in the high one;
- groups run along K, and a tile of K need not end where a group does.

Bytes: N·K/2 + (itemsize + 1)·N·K/group + itemsize·(M·K + M·N) for one block of rows. Operations: 2·M·N·K.

Frantar et al. 2022, arXiv 2210.17323; Lin et al. 2023, arXiv 2306.00978.
"""

from __future__ import annotations

import torch
from torch import Tensor


def int4_matmul(x: Tensor, packed: Tensor, scales: Tensor, zeros: Tensor, group: int) -> Tensor:
    N, K = packed.shape[0], x.shape[1]
    wide = torch.promote_types(x.dtype, torch.float32)
    codes = torch.stack([packed & 0xF, packed >> 4], dim=-1)  # (N, K/2, 2), uint8
    codes = codes.reshape(N, K // group, group).to(wide)
    weight = (codes - zeros.to(wide)[..., None]) * scales.to(wide)[..., None]  # (N, K/group, group)
    return (x.to(wide) @ weight.reshape(N, K).T).to(x.dtype)  # (M, N)
