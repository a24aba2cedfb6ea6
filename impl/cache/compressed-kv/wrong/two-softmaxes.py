"""Takes one softmax for each half and adds.
两半各做一次 softmax 再相加。

symptom: The weights of an entry sum to 2.
症状：每项的权重和为 2。

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
        first = torch.full((B, 1, m, half), float("-inf"), dtype=wide, device=kv.device)
        g = torch.cat([torch.cat([first, g[..., :half]], 1)[:, :n], g[..., half:]], 2)
        v = torch.cat([torch.cat([torch.zeros_like(first), v[..., :half]], 1)[:, :n], v[..., half:]], 2)
    if overlap and n:
        a = torch.cat([torch.softmax(g[:, :, :m], 2).nan_to_num(), torch.softmax(g[:, :, m:], 2)], 2)
    else:
        a = torch.softmax(g, 2)
    return (a * v).sum(2).to(kv.dtype)


def block_visible(T, n, m, start=0):
    last = (torch.arange(n) + 1) * m - 1
    return last <= (start + torch.arange(T))[:, None]
