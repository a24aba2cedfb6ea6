"""Pools 16-bit values in 16 bits.
16 位的值就在 16 位里汇总。

symptom: Each entry loses the digits that the softmax had.
症状：每一项都丢掉 softmax 的有效位。

cards: prec-07
rung: hardened
"""

import torch


def compress_kv(kv, gate, bias, m, overlap):
    B, S, D = kv.shape
    n, half = S // m, D // 2
    wide = kv.dtype
    v = kv[:, : n * m].to(wide).reshape(B, n, m, D)
    g = gate[:, : n * m].to(wide).reshape(B, n, m, D) + bias.to(wide)
    if overlap:
        first = torch.full((B, 1, m, half), float("-inf"), dtype=wide, device=kv.device)
        g = torch.cat([torch.cat([first, g[..., :half]], 1)[:, :n], g[..., half:]], 2)
        v = torch.cat([torch.cat([torch.zeros_like(first), v[..., :half]], 1)[:, :n], v[..., half:]], 2)
    return (torch.softmax(g, 2) * v).sum(2).to(kv.dtype)


def block_visible(T, n, m, start=0):
    last = (torch.arange(n) + 1) * m - 1
    return last <= (start + torch.arange(T))[:, None]
