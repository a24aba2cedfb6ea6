"""NaN in empty rows becomes 0; masked_fill keeps it from the gradient."""

import math

import torch
from torch import Tensor


def sdpa(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, scale: float | None = None) -> Tensor:
    wide = torch.promote_types(q.dtype, torch.float32)
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = q.to(wide) @ k.to(wide).mT * scale  # (..., T, S)
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -math.inf)
    weights = torch.nan_to_num(torch.softmax(scores, dim=-1), nan=0.0)  # (..., T, S)
    return (weights @ v.to(wide)).to(q.dtype)  # (..., T, dv)
