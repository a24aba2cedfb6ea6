"""Takes a 2-D mask's first dimension for the batch.
把 2 维掩码的第一维当成了 batch。

symptom: Wrong where T equals the batch size.
症状：T 等于 batch 大小时出错。

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
        if mask.dim() == 2 and mask.shape[0] == B:
            mask = mask[:, None, None, :]
        empty = ~mask.any(-1, keepdim=True)
        scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
        weights = scores.softmax(-1).masked_fill(empty, 0.0)
    out = (weights @ v).transpose(1, 2).reshape(B, T, D) @ wo
    return (out, weights) if return_weights else out
