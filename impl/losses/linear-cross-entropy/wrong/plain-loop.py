"""Loops over chunks under autograd.
在 autograd 之下直接写分块循环。

symptom: Every chunk's logits are kept for the backward pass: N·V numbers after all.
症状：每块的 logits 都为反向留着：还是 N·V 个数。

cards: opt-23
rung: solved
"""

import torch
import torch.nn.functional as F


def linear_cross_entropy(x, w, target, chunk=1024, ignore_index=-100):
    wide = torch.promote_types(x.dtype, torch.float32)
    n = (target != ignore_index).sum().clamp(min=1)
    total = torch.zeros((), dtype=wide, device=x.device)
    for i in range(0, len(x), chunk):
        logits = x[i : i + chunk].to(wide) @ w.to(wide).T
        total = total + F.cross_entropy(logits, target[i : i + chunk], ignore_index=ignore_index, reduction="sum")
    return (total / n).to(x.dtype)
