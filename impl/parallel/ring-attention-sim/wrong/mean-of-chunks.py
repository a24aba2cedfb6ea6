"""Normalises every chunk by itself and averages.
每块各自归一化，再取平均。

symptom: All chunks get the same weight, whatever their scores.
症状：不管分数高低，各块权重相同。

cards: flash-02
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
            if causal and s > r:
                continue
            scores = q @ k_chunks[s].to(wide).mT
            if causal and s == r:
                t = q.shape[2]
                scores = scores.masked_fill(torch.ones(t, t, dtype=torch.bool, device=q.device).triu(1), float("-inf"))
            new = scores.detach().amax(-1, keepdim=True)
            p, shrink = (scores - new).exp(), 1.0
            l = l + 1.0
            acc = acc * shrink + (p / p.sum(-1, keepdim=True)) @ v_chunks[s].to(wide)
            m = new
        outs.append((acc / l).to(dtype))
    return outs
