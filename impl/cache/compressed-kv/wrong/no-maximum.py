"""Takes exp of the gates as they are.
直接对 gate 取 exp。

symptom: ∞/∞ at gates of 200, 0/0 at −200.
症状：gate 为 200 时 ∞/∞，为 −200 时 0/0。

cards: att-24
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
        g = torch.cat([torch.cat([first, g[..., :half]], 1)[:, :n], g[..., half:]], 2)
        v = torch.cat([torch.cat([torch.zeros_like(first), v[..., :half]], 1)[:, :n], v[..., half:]], 2)
    return ((g.exp() * v).sum(2) / g.exp().sum(2)).to(kv.dtype)


def block_visible(T, n, m, start=0):
    last = (torch.arange(n) + 1) * m - 1
    return last <= (start + torch.arange(T))[:, None]
