"""Attention over an int8 KV cache: a scale for each token and head, and blocks decoded as they are read.

Decoding is bound by reading the cache, so a byte a number instead of two reads twice as fast. Decisions:
- symmetric codes −127 … 127: scale = max|x|/127 over the d numbers of one token in one head, so that written codes never change;
- q·(s·c) = s·(q·c) and Σ w·(s·c) = Σ (w·s)·c: the scales go into scores and weights, and only codes are widened, block by block;
- head h reads group h // (H/G); slots from a sequence's length on are not read; length 0 gives 0.

Per-token scales suit values; keys have outlier channels, which KIVI (Liu et al. 2024, arXiv 2402.02750, §3) scales per channel.
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
    wide = torch.promote_types(q.dtype, torch.float32)
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
