"""The backward pass of attention, by hand: o = P·v with P = softmax(S) and S = q·kᵀ/√d.

- o is linear in v: dv = Pᵀ·do, and the gradient at P is dP = do·vᵀ;
- a row p of softmax has the Jacobian diag(p) − p·pᵀ, so dS = P ∘ (dP − D) with D the row sum of P ∘ dP, which equals
  that of do ∘ o;
- S is bilinear: dq = dS·k/√d and dk = dSᵀ·q/√d, the scale once in each.

float16 and bfloat16 are computed in float32. Dao et al. 2022, arXiv 2205.14135, appendix B.2.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def sdpa_backward(q: Tensor, k: Tensor, v: Tensor, do: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v, do = q.float(), k.float(), v.float(), do.float()
    scale = 1.0 / math.sqrt(q.shape[-1])
    p = torch.softmax(q @ k.mT * scale, dim=-1)  # (..., T, S), recomputed

    dv = p.mT @ do  # (..., S, dv)
    dp = do @ v.mT  # (..., T, S)
    ds = p * (dp - (p * dp).sum(dim=-1, keepdim=True))  # (..., T, S), rows sum to 0

    dq = ds @ k * scale  # (..., T, d)
    dk = ds.mT @ q * scale  # (..., S, d)
    return dq.to(dtype), dk.to(dtype), dv.to(dtype)
