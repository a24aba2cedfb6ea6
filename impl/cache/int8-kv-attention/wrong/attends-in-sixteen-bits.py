"""Attends in the dtype of the queries.
用 query 的 dtype 做注意力。

symptom: float16 and bfloat16 queries: scores and sums lose digits.
症状：query 是 float16 或 bfloat16 时，分数与求和都丢精度。

cards: prec-07, prec-20
rung: hardened
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

Cache = dict[str, Tensor]
_BLOCK = 128  # tokens


def append_kv(cache: Cache, k: Tensor, v: Tensor) -> Cache:
    new: Cache = {}
    for name, x in (("k", k), ("v", v)):
        codes, scale = quantised(x)  # (B, G, n, d), (B, G, n)
        new[name] = torch.cat([cache[name], codes], dim=2) if cache else codes
        new[f"{name}_scale"] = torch.cat([cache[f"{name}_scale"], scale], dim=2) if cache else scale
    return new


def quantised(x: Tensor) -> tuple[Tensor, Tensor]:
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    scale = (wide.abs().amax(dim=-1) / 127).to(torch.float32)
    scale = scale.masked_fill(scale == 0, 1.0)  # a token of zeros
    return torch.round(wide / scale.unsqueeze(-1)).to(torch.int8), scale


def attend(q: Tensor, cache: Cache, lengths: Tensor) -> Tensor:
    B, H, d = q.shape
    G, t = cache["k"].shape[1:3]
    wide = q.dtype
    grouped = q.to(wide).reshape(B, G, H // G, d)  # (B, G, R, d)
    k, v = (cache[name].split(_BLOCK, dim=2) for name in ("k", "v"))
    scores = torch.cat([grouped @ codes.to(wide).transpose(-2, -1) for codes in k], dim=-1)  # (B, G, R, t)
    scores = scores * cache["k_scale"].to(wide).unsqueeze(2) / math.sqrt(d)
    seen = (torch.arange(t, device=q.device) < lengths.unsqueeze(1))[:, None, None]  # (B, 1, 1, t)
    empty = lengths[:, None, None, None] == 0
    weights = torch.softmax(scores.masked_fill(~(seen | empty), float("-inf")), dim=-1)  # (B, G, R, t)
    weights = (weights * cache["v_scale"].to(wide).unsqueeze(2)).masked_fill(~seen, 0.0)  # 0 · NaN behind a length
    out = sum(w @ codes.to(wide) for w, codes in zip(weights.split(_BLOCK, dim=-1), v, strict=True))  # (B, G, R, d)
    return out.reshape(B, H, d).to(q.dtype)
