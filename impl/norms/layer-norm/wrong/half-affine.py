"""Casts back before gamma and beta: the last two steps are computed in 16 bits."""

import torch
from torch import Tensor


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float = 1e-5) -> Tensor:
    y = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    y = y - y.mean(-1, keepdim=True)
    y = y / torch.sqrt(y.square().mean(-1, keepdim=True) + eps)
    return y.to(x.dtype) * gamma + beta
