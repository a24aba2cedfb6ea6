"""Lets block 0 stand before itself.
第 0 块前面放的还是第 0 块。

symptom: Its first half counts although nothing comes before it.
症状：前面明明没有块，它的前一半通道却算了进来。

cards: sparse-20
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
        first = g[:, :1, :, :half]
        g = torch.cat([torch.cat([first, g[..., :half]], 1)[:, :n], g[..., half:]], 2)
        v = torch.cat([torch.cat([v[:, :1, :, :half], v[..., :half]], 1)[:, :n], v[..., half:]], 2)
    return (torch.softmax(g, 2) * v).sum(2).to(kv.dtype)


def block_visible(T, n, m, start=0):
    last = (torch.arange(n) + 1) * m - 1
    return last <= (start + torch.arange(T))[:, None]
