"""Hyper-connections keep n residual streams a token; mHC mixes them by a matrix made doubly stochastic by Sinkhorn and Knopp.

Decisions:
- the largest logit is subtracted before exp: a common factor cancels when the rows are first divided by their sums;
- rows first, columns last: after any number of iterations the columns sum to 1, the rows in the limit;
- the layer runs once, on a mixture (pre); its output is written to every stream with a weight each (post);
- streams are mixed by comb alone: doubly stochastic, it keeps their mean and cannot amplify, however deep the stack;
- sums in float32; the layer sees the dtype of x.

Zhu et al. 2024, arXiv 2409.19606; Xie et al. 2025, arXiv 2512.24880; Sinkhorn & Knopp 1967.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def sinkhorn(logits: Tensor, iters: int = 20) -> Tensor:
    wide = torch.promote_types(logits.dtype, torch.float32)
    z = logits.to(wide)
    P = (z - z.detach().amax(dim=(-2, -1), keepdim=True)).exp()  # (..., n, n)
    for _ in range(iters):
        P = P / P.sum(dim=-1, keepdim=True)  # rows
        P = P / P.sum(dim=-2, keepdim=True)  # columns
    return P.to(logits.dtype)


def mhc_step(x: Tensor, pre: Tensor, post: Tensor, comb: Tensor, f: Callable[[Tensor], Tensor]) -> Tensor:
    wide = torch.promote_types(x.dtype, torch.float32)
    streams = x.to(wide)  # (B, S, n, D)
    h = (pre.to(wide)[..., None] * streams).sum(dim=-2)  # (B, S, D)
    y = f(h.to(x.dtype)).to(wide)  # (B, S, D)
    mixed = comb.to(wide) @ streams  # (B, S, n, D)
    return (mixed + post.to(wide)[..., None] * y[..., None, :]).to(x.dtype)
