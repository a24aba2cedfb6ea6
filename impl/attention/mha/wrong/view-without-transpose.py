"""Views (B, T, D) as (B, H, T, d) without transposing.
没有 transpose，直接 view 成 (B, H, T, d)。

symptom: Shapes fit; tokens attend to pieces of others.
症状：形状全对，看到的却是别的 token 的碎片。

cards: head-11
rung: solved
"""


def multi_head_attention(x_q, x_kv, wq, wk, wv, wo, n_heads, mask=None, return_weights=False):
    B, T, D = x_q.shape
    S, d = x_kv.shape[1], D // n_heads
    q = (x_q @ wq).view(B, n_heads, T, d)
    k = (x_kv @ wk).view(B, n_heads, S, d)
    v = (x_kv @ wv).view(B, n_heads, S, d)
    scores = q @ k.mT / d**0.5
    if mask is None:
        weights = scores.softmax(-1)
    else:
        empty = ~mask.any(-1, keepdim=True)
        scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
        weights = scores.softmax(-1).masked_fill(empty, 0.0)
    out = (weights @ v).transpose(1, 2).reshape(B, T, D) @ wo
    return (out, weights) if return_weights else out
