"""The row's Euclidean length, √D on the other side, everything cast once at the end."""

import math

import torch


def rms_norm(x, weight, eps=1e-6):
    y = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    D = y.shape[-1]
    squared = torch.linalg.vector_norm(y, dim=-1, keepdim=True) ** 2
    out = y * (math.sqrt(D) / torch.sqrt(squared + D * eps)) * weight.to(y.dtype)
    return out.to(x.dtype)
