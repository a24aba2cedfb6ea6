"""Writes the norm by hand and divides by rsqrt.
手写归一化，除以了 rsqrt。

symptom: The norm multiplies by the standard deviation: it amplifies what it should level.
症状：等于乘上了标准差，该压平的反而被放大。

cards: norm-03
rung: solved
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
    centred = x - x.mean(dim=-1, keepdim=True)  # (B, T, D)
    variance = centred.square().mean(dim=-1, keepdim=True)  # (B, T, 1)
    return centred / torch.rsqrt(variance + 1e-5) * params[f"{name}_g"] + params[f"{name}_b"]


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
