"""Two passes per query tile: maximum and sum, then the weights."""
import math
from torch import arange, bfloat16, cat, float16, zeros_like


def tiles(q, k, v, i, n, block_k, causal):
    T, S = q.shape[2], k.shape[2]
    a = q[:, :, i : i + n]
    where = arange(i, i + a.shape[2], device=q.device).add(S - T).unsqueeze(1)
    end = S if not causal else max(0, min(S, i + a.shape[2] + S - T))
    for j in range(0, end, block_k):
        s = a @ k[:, :, j : min(j + block_k, end)].transpose(2, 3) / math.sqrt(q.shape[3])
        if causal:
            s = s.masked_fill(arange(j, j + s.shape[3], device=q.device) > where, -math.inf)
        yield s, v[:, :, j : min(j + block_k, end)]


def flash_attention(q, k, v, block_q=64, block_k=64, causal=False):
    kind = q.dtype
    if kind in (float16, bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    outs, lses = [], []
    for i in range(0, q.shape[2], block_q):
        top = q[:, :, i : i + block_q, 0].detach() * 0 - math.inf
        for s, _ in tiles(q.detach(), k.detach(), v, i, block_q, block_k, causal):
            top = top.maximum(s.amax(3))
        base = top.clamp(min=-1e30)
        acc, total = zeros_like(q[:, :, i : i + block_q]), zeros_like(top)
        for s, value in tiles(q, k, v, i, block_q, block_k, causal):
            e = (s - base[..., None]).exp()
            total = total + e.sum(3)
            acc = acc + e @ value
        empty = total == 0
        total = total.masked_fill(empty, 1)
        outs.append(acc / total[..., None])
        lses.append((total.log() + base).masked_fill(empty, -math.inf))
    return cat(outs, 2).to(kind), cat(lses, 2)
