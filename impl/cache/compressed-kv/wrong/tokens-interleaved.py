"""Takes every n-th token for a block instead of m in a row.
一块取的是间隔 n 的 token，而不是连续 m 个。

symptom: A block holds tokens of all ages, and none is ever complete.
症状：一块里新旧 token 混在一起，永远凑不齐。

cards: sparse-20
rung: solved
"""

import torch


def compress_kv(kv, gate, bias, m, overlap):
    B, S, D = kv.shape
    n, half = S // m, D // 2
    wide = torch.promote_types(kv.dtype, torch.float32)
    v = kv[:, : n * m].to(wide).reshape(B, m, n, D).transpose(1, 2)
    g = gate[:, : n * m].to(wide).reshape(B, m, n, D).transpose(1, 2) + bias.to(wide)
    if overlap:
        first = torch.full((B, 1, m, half), float("-inf"), dtype=wide, device=kv.device)
        g = torch.cat([torch.cat([first, g[..., :half]], 1)[:, :n], g[..., half:]], 2)
        v = torch.cat([torch.cat([torch.zeros_like(first), v[..., :half]], 1)[:, :n], v[..., half:]], 2)
    return (torch.softmax(g, 2) * v).sum(2).to(kv.dtype)


def block_visible(T, n, m, start=0):
    last = (torch.arange(n) + 1) * m - 1
    return last <= (start + torch.arange(T))[:, None]
