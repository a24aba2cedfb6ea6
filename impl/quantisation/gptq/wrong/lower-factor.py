"""Uses the transposed lower factor's columns for its rows.
用了下三角因子，取的是列。

symptom: L of H⁻¹ = LLᵀ begins its elimination at the wrong end: columns already rounded take part.
症状：H⁻¹ = LLᵀ 的 L 从另一头消元：已经舍入的列也参与了。

cards: prec-14
rung: solved
"""

import torch


@torch.no_grad()
def gptq(W, X, bits, group, damp=0.01):
    w, x = W.to(torch.float64, copy=True), X.to(torch.float64)
    H = x.T @ x
    H += damp * H.diagonal().mean() * torch.eye(len(H), dtype=H.dtype, device=H.device)
    flipped = torch.linalg.inv(H).flip(0, 1)
    U = torch.linalg.cholesky(flipped).flip(0, 1)
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
