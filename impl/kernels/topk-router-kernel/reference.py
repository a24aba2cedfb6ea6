"""Top-k routing: the kernel's result, in plain torch.

The kernel's own decisions:
- one program a block of tokens, all logits of a token in its registers: E is some hundreds, k at most a dozen, so k rounds
  of a maximum are cheaper than a sort, and the logits are loaded once;
- among equal logits the lowest expert comes first: in 16 bits ties are frequent, and a choice that depends on the order of
  threads changes from run to run;
- the softmax is over the chosen alone, which is the softmax over all, renormalised: the denominators cancel;
- weights are float32 and indices int64, whatever the logits are.

Bytes: T·E·itemsize + 12·T·k. Operations: about 3·T·E·k.

Shazeer et al. 2017, arXiv 1701.06538, section 2.1; Jiang et al. 2024, arXiv 2401.04088 (Mixtral).
"""

from __future__ import annotations

import torch
from torch import Tensor


def topk_router(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    x = logits.to(torch.promote_types(logits.dtype, torch.float32))  # (T, E)
    order = torch.sort(x, dim=1, descending=True, stable=True)  # stable: the lowest expert of equal ones first
    weights = torch.softmax(order.values[:, :k], dim=1)  # (T, k)
    return weights, order.indices[:, :k].clone()
