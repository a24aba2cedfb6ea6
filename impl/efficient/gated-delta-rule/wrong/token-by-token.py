"""Loops over tokens.
逐 token 循环。

symptom: Right, but a GPU starts small kernels T times in a row and idles in between.
症状：结果对，但 GPU 上要把一串小 kernel 依次启动 T 遍，大半时间在空等。

cards: sparse-18
rung: solved
"""

import torch


def gated_delta_rule(q, k, v, beta, log_decay, S0=None, chunk=64):
    B, H, T, d = q.shape
    wide = torch.promote_types(q.dtype, torch.float32)
    S = torch.zeros(B, H, d, v.shape[-1], dtype=wide, device=q.device) if S0 is None else S0.to(wide)
    g = log_decay.unsqueeze(-1) if log_decay.dim() == 3 else log_decay
    out = []
    for t in range(T):
        qt, kt, vt, bt = q[:, :, t].to(wide), k[:, :, t].to(wide), v[:, :, t].to(wide), beta[:, :, t, None].to(wide)
        S = S * g[:, :, t].to(wide).exp().unsqueeze(-1)
        write = bt * (vt - torch.einsum("bhdv,bhd->bhv", S, kt))
        S = S + torch.einsum("bhd,bhv->bhdv", kt, write)
        out.append(torch.einsum("bhdv,bhd->bhv", S, qt))
    return torch.stack(out, 2).to(q.dtype), S.to(q.dtype)
