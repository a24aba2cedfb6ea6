"""Cross-entropy with its gradient: the kernel's result, in plain torch.

The kernel's own decisions:
- one program a row; rows of 100,000 logits do not fit into registers, so it walks over blocks with an online
  log-sum-exp, and a second time for the gradient: two loads and a store for each logit;
- the gradient of the sum of the losses is softmax − one-hot: any scaling (a mean, a z-loss) is one number a row;
- ignored rows get the loss 0 and a gradient of zeros, written like any other, and their target is never used as an index;
- losses are float32 whatever the logits are; the gradient has the dtype of the logits.

Bytes: 3·N·V·itemsize. Operations: about 8·N·V.

Hsu et al. 2024, arXiv 2410.10989 (Liger); Milakov, Gimelshein 2018, arXiv 1805.02867.
"""

from __future__ import annotations

import torch
from torch import Tensor


def cross_entropy(logits: Tensor, targets: Tensor, ignore_index: int = -100) -> tuple[Tensor, Tensor]:
    x = logits.to(torch.promote_types(logits.dtype, torch.float32))  # (N, V)
    kept = targets != ignore_index  # (N,)
    column = torch.where(kept, targets, 0)[:, None]  # (N, 1), an index in any case
    log_p = torch.log_softmax(x, dim=-1)  # (N, V)

    losses = torch.where(kept, -log_p.gather(1, column)[:, 0], 0.0)  # (N,)
    one_hot = torch.zeros_like(x).scatter(1, column, 1.0)  # (N, V)
    gradient = torch.where(kept[:, None], log_p.exp() - one_hot, 0.0)  # (N, V)
    return losses, gradient.to(logits.dtype)
