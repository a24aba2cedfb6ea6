"""Subtracts the maximum of the scores alone.
减去的最大值里没有 sink。

symptom: e^(sink − m) overflows: the values survive, since x/∞ is 0, the gradients are NaN.
症状：e^(sink − m) 溢出：x/∞ = 0，值还对；梯度成了 NaN。

cards: att-24, att-32
rung: solved
"""

import torch


def sink_attention(q, k, v, sink, window=None):
    B, H, T, d = q.shape
    G, S = k.shape[1], k.shape[2]
    if S < T:
        raise ValueError("more queries than keys")
    wide = torch.promote_types(q.dtype, torch.float32)
    q, k, v, s0 = q.to(wide), k.to(wide), v.to(wide), sink.to(wide)
    grouped = q.reshape(B, G, H // G, T, d)
    scores = grouped @ k.unsqueeze(2).mT / d**0.5
    p = torch.arange(T, device=q.device)[:, None] + S - T
    j = torch.arange(S, device=q.device)
    hidden = j > p
    if window is not None:
        hidden = hidden | (j <= p - window)
    scores = scores.masked_fill(hidden, float("-inf"))
    column = s0.view(1, G, H // G, 1, 1).expand(B, -1, -1, T, 1)
    m = scores.amax(-1, keepdim=True).detach()
    e = (scores - m).exp()
    weights = e / (e.sum(-1, keepdim=True) + (column - m).exp())
    return (weights @ v.unsqueeze(2)).reshape(B, H, T, d).to(sink.dtype)
