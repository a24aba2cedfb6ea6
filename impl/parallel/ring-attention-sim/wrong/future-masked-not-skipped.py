"""Computes future chunks and masks them.
未来的块也算，算完再屏蔽。

symptom: Nearly twice the work on a long ring, for nothing.
症状：rank 多时白白多算近一倍。

cards: flash-10
rung: solved
"""

import torch


def ring_attention(q_chunks, k_chunks, v_chunks, causal):
    P, outs = len(q_chunks), []
    for r in range(P):
        dtype = q_chunks[r].dtype
        wide = torch.promote_types(dtype, torch.float32)
        q = q_chunks[r].to(wide) / q_chunks[r].shape[-1] ** 0.5
        m = torch.full_like(q[..., :1], float("-inf"))
        l, acc = torch.zeros_like(m), torch.zeros_like(q)
        for hop in range(P):
            s = (r - hop) % P
            scores = q @ k_chunks[s].to(wide).mT
            if causal and s > r:
                scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool), float("-inf"))
            if causal and s == r:
                t = q.shape[2]
                scores = scores.masked_fill(torch.ones(t, t, dtype=torch.bool, device=q.device).triu(1), float("-inf"))
            new = torch.maximum(m, scores.detach().amax(-1, keepdim=True))
            p, shrink = (scores - new).exp(), (m - new).exp()
            l = l * shrink + p.sum(-1, keepdim=True)
            acc = acc * shrink + p @ v_chunks[s].to(wide)
            m = new
        outs.append((acc / l).to(dtype))
    return outs
