"""Key tiles outside, updating lists of query states."""
import math
import torch


def flash_attention(q, k, v, block_q=64, block_k=64, causal=False):
    if q.dtype in (torch.float16, torch.bfloat16):
        out, lse = flash_attention(q.float(), k.float(), v.float(), block_q, block_k, causal)
        return out.to(q.dtype), lse
    T, S, d = q.shape[2], k.shape[2], q.shape[3]
    tiles = list(q.split(block_q, 2))
    best = [t.new_full(t.shape[:3], -math.inf) for t in tiles]
    total = [t.new_zeros(t.shape[:3]) for t in tiles]
    out = [torch.zeros_like(t) for t in tiles]
    rows = torch.arange(T, device=q.device).split(block_q)
    for left, key, value in zip(range(0, S, block_k), k.split(block_k, 2), v.split(block_k, 2)):
        col = torch.arange(left, left + key.shape[2], device=q.device)
        for n, (tile, row) in enumerate(zip(tiles, rows)):
            if causal and n * block_q + len(row) - 1 + S - T < left:
                continue
            s = torch.einsum("bhtd,bhsd->bhts", tile, key).mul(d**-0.5)
            if causal:
                s = torch.where(col[None] <= row[:, None] + (S - T), s, torch.full_like(s, -math.inf))
            m = torch.maximum(best[n], s.max(-1).values.detach())
            safe = torch.where(m.isinf(), torch.zeros_like(m), m)
            p = torch.exp(s - safe[..., None])
            alpha = torch.exp(best[n] - safe)
            total[n] = alpha * total[n] + p.sum(-1)
            out[n] = alpha[..., None] * out[n] + torch.einsum("bhts,bhsd->bhtd", p, value)
            best[n] = m
    total, best, out = torch.cat(total, 2), torch.cat(best, 2), torch.cat(out, 2)
    none = total.eq(0)
    total = torch.where(none, torch.ones_like(total), total)
    return out / total[..., None], best + total.log()

