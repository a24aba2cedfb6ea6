"""A Transformer block: attention, then a feed-forward network, each with a residual, and a norm before or after.

Decisions:
- pre-norm normalises what a branch reads, so the residual stream itself is never touched; post-norm, the 2017 form,
  normalises the sum;
- each half has its own norm;
- GELU is the exact one, eps is 1e-5, attention has no biases, heads are contiguous slices;
- float16 and bfloat16 are computed in float32 and rounded once, at the end.

Vaswani et al. 2017, arXiv 1706.03762, §3.1; Xiong et al. 2020, arXiv 2002.04745.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor


def block(x: Tensor, params: dict[str, Tensor], n_heads: int, norm: Literal["pre", "post"], causal: bool) -> Tensor:
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, params = x.float(), {name: value.float() for name, value in params.items()}

    if norm == "pre":
        x = x + attention(layer_norm(x, params, "ln1"), params, n_heads, causal)  # (B, T, D)
        x = x + feed_forward(layer_norm(x, params, "ln2"), params)
    else:
        x = layer_norm(x + attention(x, params, n_heads, causal), params, "ln1")
        x = layer_norm(x + feed_forward(x, params), params, "ln2")
    return x.to(dtype)


def layer_norm(x: Tensor, params: dict[str, Tensor], name: str) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], params[f"{name}_g"], params[f"{name}_b"], eps=1e-5)


def attention(x: Tensor, params: dict[str, Tensor], n_heads: int, causal: bool) -> Tensor:
    B, T, D = x.shape
    q, k, v = (
        (x @ params[w]).reshape(B, T, n_heads, D // n_heads).transpose(1, 2) for w in ("wq", "wk", "wv")
    )  # (B, H, T, d)
    scores = q @ k.transpose(-2, -1) / math.sqrt(D // n_heads)  # (B, H, T, T)
    if causal:
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        scores = scores.masked_fill(future, float("-inf"))
    mixed = torch.softmax(scores, dim=-1) @ v  # (B, H, T, d)
    return mixed.transpose(1, 2).reshape(B, T, D) @ params["wo"]


def feed_forward(x: Tensor, params: dict[str, Tensor]) -> Tensor:
    return F.gelu(x @ params["w1"] + params["b1"]) @ params["w2"] + params["b2"]
