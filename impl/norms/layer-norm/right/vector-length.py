"""Divides by the centred row's Euclidean length."""

from __future__ import annotations

import math

import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    y = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    D = y.shape[-1]
    c = y - y.sum(-1, keepdim=True) / D
    length = ((c * c).sum(-1, keepdim=True) + D * eps) ** 0.5
    out = c * (math.sqrt(D) / length)
    return (out * gamma + beta).to(x.dtype)
