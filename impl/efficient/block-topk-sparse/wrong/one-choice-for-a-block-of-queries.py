"""Chooses by the mean of a block's queries.
按一块 query 的均值来选。

symptom: All queries of a block read the same; and early ones depend on later ones.
症状：同块的 query 读的都一样，靠前的还依赖靠后的。

cards: sparse-05
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
    ranks = (F.pad(q, (0, 0, 0, n * block - T)).reshape(B, H, n, block, d).mean(3).repeat_interleave(block, 2)[:, :, :T] @ k.mean(3).mT).detach()
    ranks = ranks.masked_fill(j > own, float("-inf")).masked_fill(j == own, float("inf"))
    chosen = ranks.topk(min(k_blocks, n), -1).indices
    m = chosen.shape[-1]
    index = chosen.reshape(B, H, T * m, 1).expand(-1, -1, -1, block * d)
    ks, vs = (x.flatten(3).gather(2, index).reshape(B, H, T, m * block, d) for x in (k, v))
    at = (chosen[..., None] * block + torch.arange(block, device=q.device)).flatten(3)
    s = (ks @ q[..., None])[..., 0] / d**0.5
    w = s.masked_fill(at > t[:, None], float("-inf")).softmax(-1)
    return (w[..., None, :] @ vs)[..., 0, :].to(dtype)
