"""Lets every rank's positions start at 0.
每个 rank 的位置都从 0 数起。

symptom: Earlier chunks are masked as if they were the own one, and so are later ones, which should not be seen at all.
症状：前面的块也被当成自己的块来掩，后面的块本不该看，也看到了一部分。

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
            if causal:
                future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
                scores = scores.masked_fill(future, float("-inf"))
            new = torch.maximum(m, scores.detach().amax(-1, keepdim=True))
            p, shrink = (scores - new).exp(), (m - new).exp()
            l = l * shrink + p.sum(-1, keepdim=True)
            acc = acc * shrink + p @ v_chunks[s].to(wide)
            m = new
        outs.append((acc / l).to(dtype))
    return outs
