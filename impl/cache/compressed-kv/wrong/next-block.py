"""Overlaps with the block after instead of the one before.
与后一块而不是前一块重叠。

symptom: An entry holds tokens of the future.
症状：一项里含有未来的 token。

cards: sparse-20, sparse-21
rung: solved
"""

import torch


def compress_kv(kv, gate, bias, m, overlap):
    B, S, D = kv.shape
    n, half = S // m, D // 2
    wide = torch.promote_types(kv.dtype, torch.float32)
    v = kv[:, : n * m].to(wide).reshape(B, n, m, D)
    g = gate[:, : n * m].to(wide).reshape(B, n, m, D) + bias.to(wide)
    if overlap:
        first = torch.full((B, 1, m, half), float("-inf"), dtype=wide, device=kv.device)
        g = torch.cat([torch.cat([g[..., :half], first], 1)[:, 1:], g[..., half:]], 2)
        v = torch.cat([torch.cat([v[..., :half], torch.zeros_like(first)], 1)[:, 1:], v[..., half:]], 2)
    return (torch.softmax(g, 2) * v).sum(2).to(kv.dtype)


def block_visible(T, n, m, start=0):
    last = (torch.arange(n) + 1) * m - 1
    return last <= (start + torch.arange(T))[:, None]
