"""Masked diffusion: hide each token with probability t, predict the hidden ones from the rest, weigh each by 1/t.

Decisions:
- 1/t compensates for hiding only a share t of the tokens: every number of masks counts once, as in a random order;
- the sum is divided by B·T, not by the number of hidden places, which is random;
- the weight is selected before it is multiplied: 0 · (1/0) in a row with t = 0 would be NaN, in the gradient too;
- in float32 inside.

Sahoo et al. 2024, arXiv 2406.07524; Nie et al. 2025 (LLaDA), arXiv 2502.09992, eq. 3.
"""

from __future__ import annotations

import torch
from torch import Tensor


def mdlm_loss(logits: Tensor, ids: Tensor, mask: Tensor, t: Tensor) -> Tensor:
    wide = torch.promote_types(logits.dtype, torch.float32)
    log_probs = logits.to(wide).log_softmax(dim=-1)  # (B, T, V)
    loss = -log_probs.gather(-1, ids[..., None])[..., 0]  # (B, T)

    rate = t.to(wide)[:, None].expand(mask.shape)  # (B, T)
    weight = torch.where(mask, 1 / rate, 0.0)  # (B, T)
    return (loss * weight).mean().to(logits.dtype)
