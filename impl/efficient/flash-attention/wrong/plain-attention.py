"""Is plain attention with a logsumexp by hand.
普通注意力加手写 logsumexp。

symptom: Long inputs run out of memory.
症状：序列一长就爆显存。

cards: flash-01, flash-05
rung: solved
"""
import math
import torch


def wide(x):
    return x.float() if x.element_size() == 2 else x


def flash_attention(q, k, v, block_q=64, block_k=64, causal=False):
    T, S, d = q.shape[2], k.shape[2], q.shape[3]
    Q, K, V = wide(q), wide(k), wide(v)
    s = Q @ K.mT / d**0.5
    if causal:
        s = s.masked_fill(torch.ones(T, S, dtype=torch.bool, device=q.device).triu(S - T + 1), -math.inf)
    m = s.detach().amax(-1, keepdim=True).clamp(min=-1e30)
    p = (s - m).exp()
    l = p.sum(-1, keepdim=True)
    lse = torch.where(l == 0, -math.inf, m + l.masked_fill(l == 0, 1.0).log())[..., 0]
    return (p @ V / l.masked_fill(l == 0, 1.0)).to(q.dtype), lse
