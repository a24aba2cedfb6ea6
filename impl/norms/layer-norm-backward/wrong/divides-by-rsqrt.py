"""Takes rsqrt for σ and divides by it.
把 rsqrt 当成 σ，又除以它。

symptom: x̂ and dx grow with the spread of x; nothing is off where it is 1.
症状：x̂ 和 dx 随 x 的离散程度变大；离散程度恰为 1 时看不出。

cards: norm-03
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def layer_norm_backward(dy: Tensor, x: Tensor, gamma: Tensor, eps: float = 1e-5) -> tuple[Tensor, Tensor, Tensor]:
    dtype, D = x.dtype, x.shape[-1]
    if dtype in (torch.float16, torch.bfloat16):
        dy, x, gamma = dy.float(), x.float(), gamma.float()

    centred = x - x.mean(dim=-1, keepdim=True)  # (..., D)
    sigma = torch.rsqrt(centred.square().mean(dim=-1, keepdim=True) + eps)  # (..., 1)
    hat = centred / sigma  # (..., D)

    g = dy * gamma  # (..., D)
    dx = (g - g.mean(dim=-1, keepdim=True) - hat * (g * hat).mean(dim=-1, keepdim=True)) / sigma

    dgamma = (dy * hat).reshape(-1, D).sum(dim=0)  # (D,)
    dbeta = dy.reshape(-1, D).sum(dim=0)  # (D,)
    return dx.to(dtype), dgamma.to(dtype), dbeta.to(dtype)
