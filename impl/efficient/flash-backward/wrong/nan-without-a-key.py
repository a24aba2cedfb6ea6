"""Subtracts −∞ where a query sees no key.
query 看不到 key 时减去了 −∞。

symptom: NaN in all of dk and dv of the head, and in dq of these queries.
症状：整个头的 dk、dv 全是 NaN，dq 里这些 query 的行也是。

cards: flash-04
rung: solved
"""

import math

import torch


def flash_attention_backward(q, k, v, o, lse, do, causal=False, block=64):
    B, H, T, d = q.shape
    S = k.shape[2]
    wide = torch.promote_types(q.dtype, torch.float32)
    scale = 1 / math.sqrt(d)
    Q, K, V, O, dO = (x.to(wide) for x in (q, k, v, o, do))
    L = lse.to(wide)
    seen = L > -math.inf
    D = (dO * O).sum(-1)
    dQ, dK, dV = torch.zeros_like(Q), torch.zeros_like(K), torch.zeros_like(V)
    for i in range(0, T, block):
        qi, gi = Q[:, :, i : i + block], dO[:, :, i : i + block]
        li, di, si = L[:, :, i : i + block], D[:, :, i : i + block], seen[:, :, i : i + block]
        for j in range(0, S, block):
            kj, vj = K[:, :, j : j + block], V[:, :, j : j + block]
            s = qi @ kj.mT * scale
            visible = si.unsqueeze(-1).expand_as(s)
            if causal:
                row = torch.arange(i, i + s.shape[2], device=q.device).unsqueeze(1) + S - T
                visible = visible & (torch.arange(j, j + s.shape[3], device=q.device) <= row)
            p = torch.exp(torch.where(visible, s, -math.inf) - li.unsqueeze(-1))
            dV[:, :, j : j + block] += p.mT @ gi
            dp = gi @ vj.mT
            ds = p * (dp - di.unsqueeze(-1)) * scale
            dK[:, :, j : j + block] += ds.mT @ qi
            dQ[:, :, i : i + block] += ds @ kj
    return dQ.to(q.dtype), dK.to(k.dtype), dV.to(v.dtype)
