"""Takes P∘dP instead of P for dv.
dv 用了 P∘dP 而不是 P。

symptom: Values get the gradient of the weights.
症状：value 拿到的是权重的梯度。

cards: att-27
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
    L = torch.where(seen, L, torch.zeros_like(L))
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
            p = torch.where(visible, torch.exp(s - li.unsqueeze(-1)), 0.0)
            dp = gi @ vj.mT
            dV[:, :, j : j + block] += (p * dp).mT @ gi
            ds = p * (dp - di.unsqueeze(-1)) * scale
            dK[:, :, j : j + block] += ds.mT @ qi
            dQ[:, :, i : i + block] += ds @ kj
    return dQ.to(q.dtype), dK.to(k.dtype), dV.to(v.dtype)
