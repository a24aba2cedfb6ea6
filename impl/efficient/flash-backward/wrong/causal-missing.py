"""Ignores causal: the saved lse is trusted to hide keys.
没有理会 causal，以为 lse 已经把 key 挡住了。

symptom: Hidden keys get weights, far above 1 even.
症状：被掩的 key 得到权重，甚至远大于 1。

cards: flash-04, mask-09
rung: solved
"""

import torch


def flash_attention_backward(q, k, v, o, lse, do, causal=False, block=64):
    dtype, (T, d), S = q.dtype, q.shape[2:], k.shape[2]
    wide = torch.promote_types(dtype, torch.float32)
    q, k, v, o, lse, do = (t.to(wide) for t in (q, k, v, o, lse, do))
    scale = d**-0.5
    D = (do * o).sum(-1)
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for i in range(0, T, block):
        a = slice(i, i + block)
        for j in range(0, S, block):
            b = slice(j, j + block)
            s = q[:, :, a] @ k[:, :, b].mT * scale
            p = (s - lse[:, :, a, None]).exp()
            ds = p * (do[:, :, a] @ v[:, :, b].mT - D[:, :, a, None]) * scale
            dv[:, :, b] += p.mT @ do[:, :, a]
            dq[:, :, a] += ds @ k[:, :, b]
            dk[:, :, b] += ds.mT @ q[:, :, a]
    return dq.to(dtype), dk.to(dtype), dv.to(dtype)
