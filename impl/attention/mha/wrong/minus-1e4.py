"""Masks with −1e4.
用 −1e4 做掩码。

symptom: Padding queries return the mean value.
症状：padding 位置返回所有 value 的平均。

cards: mask-05
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
        weights = scores.masked_fill(~mask, -1e4).softmax(-1)
    out = (weights @ v).transpose(1, 2).reshape(B, T, D) @ wo
    return (out, weights) if return_weights else out
