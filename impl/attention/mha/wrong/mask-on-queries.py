"""Applies a key mask (B, 1, 1, S) to queries.
把 key 的掩码 (B, 1, 1, S) 用到了 query 上。

symptom: Padding keys weigh; padded positions are zero.
症状：padding 的 key 仍有权重，对应的 query 全 0。

cards: mask-06
rung: solved
"""


def multi_head_attention(x_q, x_kv, wq, wk, wv, wo, n_heads, mask=None, return_weights=False):
    B, T, D = x_q.shape
    S, d = x_kv.shape[1], D // n_heads
    q = (x_q @ wq).view(B, T, n_heads, d).transpose(1, 2)
    k = (x_kv @ wk).view(B, S, n_heads, d).transpose(1, 2)
    v = (x_kv @ wv).view(B, S, n_heads, d).transpose(1, 2)
    scores = q @ k.mT / d**0.5
    if mask is None:
        weights = scores.softmax(-1)
    else:
        if mask.dim() == 4 and mask.shape[2] == 1 and mask.shape[3] > 1:
            mask = mask.transpose(-2, -1)[:, :, :T]
        empty = ~mask.any(-1, keepdim=True)
        scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
        weights = scores.softmax(-1).masked_fill(empty, 0.0)
    out = (weights @ v).transpose(1, 2).reshape(B, T, D) @ wo
    return (out, weights) if return_weights else out
