"""Asks topk for more blocks than there are.
向 topk 要的块比实际还多。

symptom: An error for short sequences.
症状：序列一短就报错。

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
    ranks = (q @ k.mean(3).mT).detach()
    ranks = ranks.masked_fill(j > own, float("-inf")).masked_fill(j == own, float("inf"))
    chosen = ranks.topk(k_blocks, -1).indices
    m = chosen.shape[-1]
    index = chosen.reshape(B, H, T * m, 1).expand(-1, -1, -1, block * d)
    ks, vs = (x.flatten(3).gather(2, index).reshape(B, H, T, m * block, d) for x in (k, v))
    at = (chosen[..., None] * block + torch.arange(block, device=q.device)).flatten(3)
    s = (ks @ q[..., None])[..., 0] / d**0.5
    w = s.masked_fill(at > t[:, None], float("-inf")).softmax(-1)
    return (w[..., None, :] @ vs)[..., 0, :].to(dtype)
