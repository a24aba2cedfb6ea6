"""Multiplies 16-bit inputs in 16 bits.
16 位输入的 XᵀX 用 16 位算。

symptom: float16 sums of squares overflow; in bfloat16 the small eigenvalues are noise.
症状：float16 的平方和会溢出；bfloat16 下小特征值全是噪声。

cards: prec-07
rung: hardened
"""

import torch


@torch.no_grad()
def gptq(W, X, bits, group, damp=0.01):
    w, x = W.to(torch.float64, copy=True), X.to(torch.float64)
    H = (X.T @ X).to(torch.float64)
    H += damp * H.diagonal().mean() * torch.eye(len(H), dtype=H.dtype, device=H.device)
    U = torch.linalg.cholesky(torch.linalg.inv(H), upper=True)
    top = 2 ** (bits - 1) - 1
    out = torch.zeros_like(w)
    for j in range(w.shape[1]):
        if j % group == 0:
            scale = w[:, j : j + group].abs().amax(dim=1) / top
            scale = torch.where(scale == 0, torch.ones_like(scale), scale)
        out[:, j] = (w[:, j] / scale).round().clamp(-top, top) * scale
        error = (w[:, j] - out[:, j]) / U[j, j]
        w[:, j + 1 :] -= error[:, None] * U[j, j + 1 :]
    return out.to(W.dtype)
