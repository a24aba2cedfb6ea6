"""Lets the residual carry on the normalised x.
残差传的是归一化之后的 x。

symptom: Pre-norm is no identity at the start; the raw stream is lost.
症状：pre-norm 一开始就不是恒等映射，原来的残差流丢了。

cards: norm-09
rung: solved
"""

import math

import torch
import torch.nn.functional as F


def layer_norm(x, g, b):
    return F.layer_norm(x, (x.shape[-1],), g, b, 1e-5)


def attention(x, p, n_heads, causal):
    B, T, D = x.shape
    d = D // n_heads
    q, k, v = ((x @ p[w]).reshape(B, T, n_heads, d).transpose(1, 2) for w in ("wq", "wk", "wv"))
    scores = q @ k.mT / math.sqrt(d)
    if causal:
        visible = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        scores = scores.masked_fill(~visible, float("-inf"))
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D) @ p["wo"]


def ffn(x, p):
    return F.gelu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]


def block(x, params, n_heads, norm, causal):
    dtype = x.dtype
    p = params
    if dtype in (torch.float16, torch.bfloat16):
        x, p = x.float(), {name: value.float() for name, value in params.items()}
    if norm == "pre":
        x = layer_norm(x, p["ln1_g"], p["ln1_b"])
        x = x + attention(x, p, n_heads, causal)
        x = layer_norm(x, p["ln2_g"], p["ln2_b"])
        x = x + ffn(x, p)
    else:
        x = layer_norm(x + attention(x, p, n_heads, causal), p["ln1_g"], p["ln1_b"])
        x = layer_norm(x + ffn(x, p), p["ln2_g"], p["ln2_b"])
    return x.to(dtype)
