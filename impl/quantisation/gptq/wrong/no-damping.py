"""Adds 10⁻¹² instead of the damping.
没有按 damp 加阻尼，只加了 10⁻¹²。

symptom: Few samples are overfitted, and H is nearly singular where X has fewer rows than columns.
症状：样本少时过拟合；X 的行数少于列数时 H 近乎奇异。

cards: prec-14
rung: solved
"""

import torch


@torch.no_grad()
def gptq(W, X, bits, group, damp=0.01):
    w, x = W.to(torch.float64, copy=True), X.to(torch.float64)
    H = x.T @ x
    H += 1e-12 * torch.eye(len(H), dtype=H.dtype, device=H.device)
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
