"""Computes −inf − (−inf) before any key is seen.
还没见过 key 就算 −inf − (−inf)。

symptom: NaN where a row's first tile is masked.
症状：某行第一块全被屏蔽时是 NaN。

cards: flash-09, mask-04
rung: hardened
"""
import math
import torch


def wide(x):
    return x.float() if x.element_size() == 2 else x


def flash_attention(q, k, v, block_q=64, block_k=64, causal=False):
    T, S, d = q.shape[2], k.shape[2], q.shape[3]
    Q, K, V = wide(q), wide(k), wide(v)
    outs, lses = [], []
    for i in range(0, T, block_q):
        a = Q[:, :, i : i + block_q]
        rows = torch.arange(i, i + a.shape[2], device=q.device)[:, None] + S - T
        m = torch.full_like(a[..., :1], -math.inf)
        l, acc = torch.zeros_like(m), torch.zeros_like(a)
        for j in range(0, S, block_k):
            if causal and j > i + a.shape[2] - 1 + S - T:
                break
            s = a @ K[:, :, j : j + block_k].mT / d**0.5
            cols = torch.arange(j, j + s.shape[3], device=q.device)
            if causal:
                s = s.masked_fill(cols > rows, -math.inf)
            new = torch.maximum(m, s.detach().amax(-1, keepdim=True))
            base = new
            p, alpha = (s - base).exp(), (m - base).exp()
            l = l * alpha + p.sum(-1, keepdim=True)
            acc = acc * alpha + p @ V[:, :, j : j + block_k]
            m = new
        empty = l == 0
        l = l.masked_fill(empty, 1.0)
        outs.append(acc / l)
        lses.append((m + l.log())[..., 0])
    return torch.cat(outs, 2).to(q.dtype), torch.cat(lses, 2)
