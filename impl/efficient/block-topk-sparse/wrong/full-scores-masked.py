"""Computes all scores and masks what was not chosen.
算出全部分数，再屏蔽没选中的。

symptom: Right values at the full price, T² in work and memory.
症状：结果对，但计算和内存都是完整的 T²。

cards: sparse-01, sparse-05
rung: solved
"""

import torch
import torch.nn.functional as F


def topk_block_attention(q, k, v, block, k_blocks):
    B, H, T, d = q.shape
    dtype = q.dtype
    wide = torch.promote_types(q.dtype, torch.float32)
    q, k, v = q.to(wide), k.to(wide), v.to(wide)
    n = (T + block - 1) // block
    k, v = (F.pad(t, (0, 0, 0, n * block - T)).reshape(B, H, n, block, d) for t in (k, v))
    t = torch.arange(T, device=q.device)
    own = t[:, None] // block
    j = torch.arange(n, device=q.device)
    ranks = (q @ k.mean(3).mT).detach()
    ranks = ranks.masked_fill(j > own, float("-inf")).masked_fill(j == own, float("inf"))
    chosen = ranks.topk(min(k_blocks, n), -1).indices
    open_blocks = torch.zeros_like(ranks, dtype=torch.bool).scatter(-1, chosen, True)
    visible = open_blocks.repeat_interleave(block, -1) & (torch.arange(n * block, device=q.device) <= t[:, None])
    s = q @ k.flatten(2, 3).mT / d**0.5
    w = s.masked_fill(~visible, float("-inf")).softmax(-1)
    return (w @ v.flatten(2, 3)).to(dtype)
