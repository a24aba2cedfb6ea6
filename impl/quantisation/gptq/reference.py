"""GPTQ: weights are rounded column by column, and what a column's rounding spoils, the columns still to come make good.

What counts is the layer's output: ‖(W − Ŵ)Xᵀ‖² is, row by row, a quadratic form with H = XᵀX. Once columns are fixed, the
best the others can do is known in closed form. Decisions:
- H⁻¹ = UᵀU with U upper triangular: row j of U, divided by its diagonal, says how columns after j answer column j's error;
- damping by a share of the mean diagonal keeps H invertible where X has fewer rows than columns, or dead ones;
- a group takes its scale when its first column comes up, from the weights as they have been corrected by then;
- symmetric codes, clamped: corrections may push a weight beyond the group's maximum.

Frantar et al. 2022, arXiv 2210.17323, Sections 3 and 4.
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def gptq(W: Tensor, X: Tensor, bits: int, group: int, damp: float = 0.01) -> Tensor:
    w, x = W.to(torch.float64, copy=True), X.to(torch.float64)
    H = x.T @ x  # (I, I)
    H += damp * H.diagonal().mean() * torch.eye(len(H), dtype=H.dtype, device=H.device)
    U = torch.linalg.cholesky(torch.linalg.inv(H), upper=True)

    largest_code = 2 ** (bits - 1) - 1
    quantised = torch.zeros_like(w)
    for j in range(w.shape[1]):
        if j % group == 0:
            scale = w[:, j : j + group].abs().amax(dim=1) / largest_code  # (O,)
            scale = torch.where(scale == 0, torch.ones_like(scale), scale)
        codes = (w[:, j] / scale).round().clamp(-largest_code, largest_code)
        quantised[:, j] = codes * scale
        error = (w[:, j] - quantised[:, j]) / U[j, j]
        w[:, j + 1 :] -= error[:, None] * U[j, j + 1 :]  # (O, I − j − 1)
    return quantised.to(W.dtype)
