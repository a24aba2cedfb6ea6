"""The longest fitting prefix; lerp towards the identity."""

from __future__ import annotations

import functools
import math
import unicodedata

import torch


def size(t):
    return len(t) + sum(unicodedata.east_asian_width(c) in {"W", "F"} for c in t)


def cut(t, n):
    best = max((t[:k] for k in range(len(t) + 1) if size(t[:k]) <= n), key=len)
    return best + " " * (n - size(best))


def attention_to_text(weights, q_tokens, k_tokens, width=2):
    out = []
    n = size(max(q_tokens, key=size))
    out.append(f"{' ' * n} {''.join(cut(k, width) for k in k_tokens)}")
    for i in range(len(q_tokens)):
        line = ""
        for j in range(len(k_tokens)):
            level = int(math.floor(weights[i, j].item() * 10))
            line += " .:-=+*#%@"[0 if level < 0 else 9 if level > 9 else level] * width
        out.append(f"{cut(q_tokens[i], n)} {line}")
    return "\n".join(out)


def _mix(w, r):
    m = torch.lerp(w.mean(dim=1), torch.eye(w.size(-1), dtype=w.dtype, device=w.device).expand(w.size(0), -1, -1), r)
    return m.div(m.sum(dim=2, keepdim=True))


def attention_rollout(weights, residual=0.5):
    return functools.reduce(lambda acc, w: torch.bmm(_mix(w, residual), acc), weights[1:], _mix(weights[0], residual))
