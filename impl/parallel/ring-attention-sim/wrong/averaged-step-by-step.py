"""Averages the result so far and the newest chunk, half each.
把已有结果和新一块各取一半平均。

symptom: The last chunk counts for half of the result, the first ones for nearly nothing.
症状：最后一块占一半，最早的几块几乎不算。

cards: flash-02, dist-09
rung: solved
"""

import torch


def attend(q, k, v, hidden):
    scores = q @ k.transpose(-2, -1)
    if hidden:
        future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(future, float("-inf"))
    return torch.softmax(scores, dim=-1) @ v


def ring_attention(q_chunks, k_chunks, v_chunks, causal):
    P, results = len(q_chunks), []
    for r in range(P):
        wide = torch.promote_types(q_chunks[r].dtype, torch.float32)
        q = q_chunks[r].to(wide) / q_chunks[r].shape[-1] ** 0.5
        out = None
        for hop in range(P):
            s = (r - hop) % P
            if causal and s > r:
                continue
            part = attend(q, k_chunks[s].to(wide), v_chunks[s].to(wide), causal and s == r)
            out = part if out is None else 0.5 * (out + part)
        results.append(out.to(q_chunks[r].dtype))
    return results
