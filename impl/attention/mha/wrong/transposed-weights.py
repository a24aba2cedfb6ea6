"""Multiplies by the transposed weights, as nn.Linear does.
像 nn.Linear 那样乘权重的转置。

symptom: Right only for symmetric weights.
症状：权重对称时才对。

cards: head-09
rung: solved
"""


def multi_head_attention(x_q, x_kv, wq, wk, wv, wo, n_heads, mask=None, return_weights=False):
    B, T, D = x_q.shape
    S, d = x_kv.shape[1], D // n_heads
    q = (x_q @ wq.T).view(B, T, n_heads, d).transpose(1, 2)
    k = (x_kv @ wk.T).view(B, S, n_heads, d).transpose(1, 2)
    v = (x_kv @ wv.T).view(B, S, n_heads, d).transpose(1, 2)
    scores = q @ k.mT / d**0.5
    if mask is None:
        weights = scores.softmax(-1)
    else:
        empty = ~mask.any(-1, keepdim=True)
        scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
        weights = scores.softmax(-1).masked_fill(empty, 0.0)
    out = (weights @ v).transpose(1, 2).reshape(B, T, D) @ wo.T
    return (out, weights) if return_weights else out
