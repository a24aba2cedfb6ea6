"""Stops the corrections at the border of a group.
修正不跨出本组。

symptom: The next group begins with errors that nobody makes up for.
症状：下一组开始时，前面的误差没人补。

cards: prec-14
rung: solved
"""

import torch


@torch.no_grad()
def gptq(W, X, bits, group, damp=0.01):
    w, x = W.to(torch.float64, copy=True), X.to(torch.float64)
    H = x.T @ x
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
        w[:, j + 1 : j - j % group + group] -= error[:, None] * U[j, j + 1 : j - j % group + group]
    return out.to(W.dtype)
