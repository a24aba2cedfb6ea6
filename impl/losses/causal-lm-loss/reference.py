"""The loss of a causal language model: each position predicts the token after it.

Decisions:
- logits at t are judged by ids at t + 1: the last logits and the first id are not used;
- the mask says which ids are targets, so it is shifted with them;
- the mean is over targets, wherever they stand: a long answer counts for more than a short one;
- −log softmax = logsumexp − logit, which subtracts the maximum before exp;
- the z-loss pulls logsumexp towards 0, over the same targets;
- without any target the sum is 0, and 0 divided by 1: no NaN.

Radford et al. 2018 (GPT); z-loss: Chowdhery et al. 2022 (PaLM), arXiv 2204.02311, section 5.
"""

from __future__ import annotations

import torch
from torch import Tensor


def lm_loss(logits: Tensor, ids: Tensor, loss_mask: Tensor | None = None, z_coef: float = 0.0) -> Tensor:
    wide = torch.promote_types(logits.dtype, torch.float32)
    z = logits[:, :-1].to(wide)  # (B, T−1, V)
    targets = ids[:, 1:]  # (B, T−1)
    keep = torch.ones_like(targets, dtype=wide) if loss_mask is None else loss_mask[:, 1:].to(wide)  # (B, T−1)

    lse = z.logsumexp(dim=-1)  # (B, T−1)
    token = lse - z.gather(-1, targets[..., None])[..., 0] + z_coef * lse.square()  # (B, T−1)

    return ((token * keep).sum() / keep.sum().clamp(min=1.0)).to(logits.dtype)
