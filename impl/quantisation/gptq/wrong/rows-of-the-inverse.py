"""Corrects by rows of H⁻¹ as it was at the start.
始终用最初的 H⁻¹ 的行来修正。

symptom: Right for the first column; later ones still count on columns that are already rounded.
症状：第一列对；之后仍把已经舍入的列当成可调的。

cards: prec-14
rung: solved
"""

import torch


@torch.no_grad()
def gptq(W, X, bits, group, damp=0.01):
    w, x = W.to(torch.float64, copy=True), X.to(torch.float64)
    H = x.T @ x
    H += damp * H.diagonal().mean() * torch.eye(len(H), dtype=H.dtype, device=H.device)
    U = torch.linalg.inv(H)
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
