"""Muon: momentum for a matrix whose step has all singular values near 1, so that rare directions move as far as common ones.

Orthogonalising by SVD is exact and slow on a GPU; five odd polynomials of matrix products are enough. Decisions:
- ‖G‖_F bounds the largest singular value, so dividing by it brings all of them into 0 … 1;
- X ← aX + b(XXᵀ)X + c(XXᵀ)²X acts on each singular value alone, σ ← aσ + bσ³ + cσ⁵, and keeps the singular vectors;
- the coefficients are chosen to lift small σ fast, by 3.4445 a step; the result lies around 1, not at it;
- a tall matrix is transposed first, so that the Gram matrix is the small one, min(O, I) wide;
- √max(1, O/I) corrects for the shape; momentum comes first, the orthogonalisation last.

Jordan et al. 2024, https://kellerjordan.github.io/posts/muon; scaled up in Liu et al. 2025, arXiv 2502.16982.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

COEFFICIENTS = (3.4445, -4.7750, 2.0315)


@torch.no_grad()
def newton_schulz5(G: Tensor, steps: int = 5) -> Tensor:
    if G.dim() != 2:
        raise ValueError(f"Muon is for matrices; this has {G.dim()} dimensions")
    a, b, c = COEFFICIENTS
    X = G.to(torch.promote_types(G.dtype, torch.float32))
    X = X / (X.norm() + 1e-7)
    tall = G.shape[0] > G.shape[1]
    X = X.T if tall else X  # (n, m), n ≤ m
    for _ in range(steps):
        gram = X @ X.T  # (n, n)
        X = a * X + (b * gram + c * gram @ gram) @ X
    return (X.T if tall else X).to(G.dtype)


@torch.no_grad()
def muon_step(
    W: Tensor, g: Tensor, state: dict[str, Any], lr: float, momentum: float = 0.95, nesterov: bool = True
) -> Tensor:
    if W.dim() != 2:
        raise ValueError(f"Muon is for matrices; this has {W.dim()} dimensions")
    wide = torch.promote_types(W.dtype, torch.float32)
    g = g.to(wide)  # (O, I)
    buf = momentum * state["buf"] + g if state else g.clone()
    state["buf"] = buf
    update = newton_schulz5(g + momentum * buf if nesterov else buf)
    O, I = W.shape
    return (W.to(wide) - lr * max(1.0, O / I) ** 0.5 * update).to(W.dtype)
