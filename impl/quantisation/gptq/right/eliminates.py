"""Optimal brain surgery: a column leaves H⁻¹ by one step of elimination."""

import torch


@torch.no_grad()
def gptq(W, X, bits, group, damp=0.01):
    wide = torch.promote_types(W.dtype, torch.float32)
    w = W.to(wide, copy=True)
    x = X.to(torch.float64)
    H = x.T @ x
    H.diagonal().add_(damp * H.diagonal().mean())
    inverse = torch.linalg.inv(H).to(wide)
    top = 2 ** (bits - 1) - 1
    columns = []
    while w.shape[1]:
        if len(columns) % group == 0:
            s = w[:, :group].abs().amax(1, keepdim=True) / top
            s = s + (s == 0)
        q = (w[:, :1] / s).round().clamp(-top, top) * s
        columns.append(q)
        row = inverse[:1] / inverse[0, 0]
        w = (w - (w[:, :1] - q) * row)[:, 1:]
        inverse = (inverse - inverse[:, :1] @ row)[1:, 1:]
    return torch.cat(columns, dim=1).to(W.dtype)
