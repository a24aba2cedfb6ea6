"""Switch's load-balancing loss: how many tokens an expert got, times how probable it was on average.

    loss = α · E · Σ_e f_e · P_e

Decisions:
- f is the share of the N·k choices that fell on expert e; counted, so it has no gradient;
- P is the mean probability of expert e over all tokens, chosen or not; all of the gradient goes through it, weighted by f;
- the factor E makes the value α at uniform load, whatever E is; collapse onto k experts gives α·E/k;
- E is the width of probs: an expert that nobody chose has f = 0;
- float16 and bfloat16 are computed in float32: beyond 256 a count in bfloat16 no longer grows.

Fedus et al. 2021, arXiv 2101.03961, section 2.2; for k > 1 the counts are divided by k.
"""

from __future__ import annotations

import torch
from torch import Tensor


def switch_aux_loss(probs: Tensor, idx: Tensor, alpha: float) -> Tensor:
    wide = torch.promote_types(probs.dtype, torch.float32)
    E = probs.shape[1]

    chosen = idx[..., None] == torch.arange(E, device=idx.device)  # (N, k, E)
    f = chosen.to(wide).mean(dim=(0, 1))  # (E,), sums to 1
    P = probs.to(wide).mean(dim=0)  # (E,)

    return (alpha * E * (f * P).sum()).to(probs.dtype)
