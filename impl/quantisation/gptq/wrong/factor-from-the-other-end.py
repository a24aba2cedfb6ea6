"""Takes the upper factor V of H⁻¹ = V·Vᵀ, not U of H⁻¹ = Uᵀ·U.
用的是 H⁻¹ = V·Vᵀ 的上三角因子 V，而不是 H⁻¹ = Uᵀ·U 的 U。

symptom: V eliminates from the last column on: its rows do not say how the columns still to come answer an error.
症状：V 从最后一列开始消元，它的行说不出后面的列该怎样补误差。

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
