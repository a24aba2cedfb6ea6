"""Adds the FFN to the normalised stream, not to the stream itself.
FFN 加在归一化之后的 x 上，没有加回残差流。

symptom: Pre-norm: the stream is normalised once in every block, which is what pre-norm avoids.
症状：pre-norm 下残差流每块都被归一化一次，这正是 pre-norm 要避免的。

cards: norm-09
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
        x = layer_norm(x, params, "ln2")
        x = x + feed_forward(x, params)
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
