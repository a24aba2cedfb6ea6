"""PiSSA: LoRA starts from the principal singular directions of the weight, and the residual is frozen.

    W = U S Vᵀ,      B = U_r √S_r,      A = √S_r V_rᵀ,      W_res = W − BA

Decisions:
- BA is the best approximation of rank r (Eckart–Young), so the first steps change the most important directions;
- each factor gets √S: AAᵀ = BᵀB = diag(S_r), so both have the same scale;
- W_res + BA = W: the layer starts as its base, although neither A nor B is zero;
- torch returns Vᵀ with rows in descending order of S; 16 bits have no SVD and are computed in float32.

Meng et al. 2024, arXiv 2404.02948, section 3.
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def pissa_init(W: Tensor, r: int) -> tuple[Tensor, Tensor, Tensor]:
    wide = W.to(torch.promote_types(W.dtype, torch.float32))
    U, S, Vh = torch.linalg.svd(wide, full_matrices=False)  # (O, n), (n,), (n, I) with n = min(O, I)

    root = S[:r].sqrt()  # (r,)
    A = root[:, None] * Vh[:r]  # (r, I)
    B = U[:, :r] * root  # (O, r)

    return A.to(W.dtype), B.to(W.dtype), (wide - B @ A).to(W.dtype)
