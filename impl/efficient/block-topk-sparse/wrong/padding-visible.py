"""Compares places with the last one instead of the query's own.
位置和最后一个 token 比，而不是和 query 比。

symptom: Neither the future of the own block nor superfluous blocks are hidden.
症状：自己块里的未来、多选的块都没有屏蔽。

cards: mask-09
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
    m = chosen.shape[-1]
    index = chosen.reshape(B, H, T * m, 1).expand(-1, -1, -1, block * d)
    ks, vs = (x.flatten(3).gather(2, index).reshape(B, H, T, m * block, d) for x in (k, v))
    at = (chosen[..., None] * block + torch.arange(block, device=q.device)).flatten(3)
    s = (ks @ q[..., None])[..., 0] / d**0.5
    w = s.masked_fill(at > T - 1, float("-inf")).softmax(-1)
    return (w[..., None, :] @ vs)[..., 0, :].to(dtype)
