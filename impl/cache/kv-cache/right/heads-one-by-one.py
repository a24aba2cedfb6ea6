"""Loops over heads and queries; `wo` in slices."""

from __future__ import annotations

import torch
from torch import Tensor


def cut(x, w, h, d):
    return x @ w[:, h * d : (h + 1) * d]


def prefill(x, params, n_heads):
    d = x.shape[-1] // n_heads
    ks, vs, y = [], [], 0
    for h in range(n_heads):
        q, k, v = (cut(x, params[n], h, d) for n in ("wq", "wk", "wv"))
        rows = []
        for t in range(x.shape[1]):
            w = torch.softmax((k[:, : t + 1] * q[:, t : t + 1]).sum(-1) * d**-0.5, -1)
            rows.append((w[:, :, None] * v[:, : t + 1]).sum(1))
        y = y + torch.stack(rows, 1) @ params["wo"][h * d : (h + 1) * d]
        ks.append(k)
        vs.append(v)
    return y, {"k": torch.stack(ks, 1), "v": torch.stack(vs, 1)}


def decode_step(x_t, cache, params, n_heads):
    if not cache:
        return prefill(x_t, params, n_heads)
    d = x_t.shape[-1] // n_heads
    new = {n: torch.stack([cut(x_t, params["w" + n], h, d) for h in range(n_heads)], 1) for n in "kv"}
    new = {n: torch.cat([cache[n], new[n]], 2) for n in "kv"}
    y = 0
    for h in range(n_heads):
        q = cut(x_t, params["wq"], h, d)
        w = torch.softmax(q @ new["k"][:, h].mT * d**-0.5, -1)
        y = y + w @ new["v"][:, h] @ params["wo"][h * d : (h + 1) * d]
    return y, new
