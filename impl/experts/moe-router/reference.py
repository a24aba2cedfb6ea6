"""The router of a mixture of experts: a linear layer scores every expert, and the best k are kept with a gate each.

Decisions:
- selection and weight are separate: top-k is not differentiable, so the router learns through the weights alone;
- softmax_topk keeps the raw probabilities: renormalised, a single chosen expert would have weight 1 and no gradient;
- topk_softmax (equal to softmax, top-k, renormalise) makes the chosen weights sum to 1;
- sigmoid_bias scores experts one by one; the bias steers the load and never touches a weight;
- logits are computed in float32 for 16-bit inputs, where close ones would tie.

Shazeer et al. 2017, arXiv 1701.06538; Fedus et al. 2021, arXiv 2101.03961; DeepSeek-V3, arXiv 2412.19437, eq. 13-16.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor


def route(
    x: Tensor,
    wg: Tensor,
    k: int,
    mode: Literal["softmax_topk", "topk_softmax", "sigmoid_bias"],
    bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    wide = torch.promote_types(x.dtype, torch.float32)
    logits = x.to(wide) @ wg.to(wide)  # (N, E)

    if mode == "softmax_topk":
        probs = logits.softmax(dim=-1)  # (N, E)
        idx = probs.topk(k, dim=-1).indices  # (N, k)
        weights = probs.gather(-1, idx)  # (N, k)
    elif mode == "topk_softmax":
        probs = logits.softmax(dim=-1)  # (N, E)
        idx = logits.topk(k, dim=-1).indices  # (N, k)
        weights = logits.gather(-1, idx).softmax(dim=-1)  # (N, k)
    elif mode == "sigmoid_bias":
        probs = logits.sigmoid()  # (N, E)
        scores = probs if bias is None else probs + bias.to(wide)  # (N, E)
        idx = scores.topk(k, dim=-1).indices  # (N, k)
        chosen = probs.gather(-1, idx)  # (N, k)
        weights = chosen / chosen.sum(dim=-1, keepdim=True)  # (N, k)
    else:
        raise ValueError(f"unknown mode {mode!r}")

    return weights.to(x.dtype), idx, probs.to(x.dtype)
