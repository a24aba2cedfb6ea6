"""Feeds both branches from the same input, as GPT-J does.
像 GPT-J 那样，两条支路读同一个输入。

symptom: The FFN does not see what attention has read.
症状：FFN 看不到注意力读来的东西。

cards: ffn-13
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
        a = attention(layer_norm(x, p["ln1_g"], p["ln1_b"]), p, n_heads, causal)
        x = x + a + ffn(layer_norm(x, p["ln2_g"], p["ln2_b"]), p)
    else:
        x = layer_norm(x + attention(x, p, n_heads, causal), p["ln1_g"], p["ln1_b"])
        x = layer_norm(x + ffn(x, p), p["ln2_g"], p["ln2_b"])
    return x.to(dtype)
