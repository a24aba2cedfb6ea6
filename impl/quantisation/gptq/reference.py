"""GPTQ: weights are rounded column by column, and later columns compensate for each column's rounding error.

The objective is the layer's output: ‖(W − Ŵ)Xᵀ‖² is, row by row, a quadratic form with H = XᵀX. Once some columns are fixed,
the best values of the others are known in closed form. Decisions:
- H⁻¹ = UᵀU with U upper triangular: row j of U, divided by its diagonal, gives later columns' corrections for column j's error;
- damping by a share of the mean diagonal keeps H invertible where X has fewer rows than columns, or dead ones;
- a group's scale is computed when its first column is reached, from the weights as corrected so far;
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
