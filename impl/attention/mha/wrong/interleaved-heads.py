"""Makes a head of every H-th component.
每隔 H 个分量取一个组成头。

symptom: Pretrained weights give garbage.
症状：加载预训练权重就乱。

cards: head-09
rung: solved
"""


def multi_head_attention(x_q, x_kv, wq, wk, wv, wo, n_heads, mask=None, return_weights=False):
    B, T, D = x_q.shape
    S, d = x_kv.shape[1], D // n_heads
    q = (x_q @ wq).view(B, T, d, n_heads).permute(0, 3, 1, 2)
    k = (x_kv @ wk).view(B, S, d, n_heads).permute(0, 3, 1, 2)
    v = (x_kv @ wv).view(B, S, d, n_heads).permute(0, 3, 1, 2)
    scores = q @ k.mT / d**0.5
    if mask is None:
        weights = scores.softmax(-1)
    else:
        empty = ~mask.any(-1, keepdim=True)
        scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
        weights = scores.softmax(-1).masked_fill(empty, 0.0)
    out = (weights @ v).permute(0, 2, 3, 1).reshape(B, T, D) @ wo
    return (out, weights) if return_weights else out
