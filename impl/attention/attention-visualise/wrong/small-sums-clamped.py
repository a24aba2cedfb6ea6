"""Divides rows by 0.35 at least.
除数至少取 0.35。

symptom: Rows nearly emptied by dropout do not sum to 1.
症状：被 dropout 几乎清空的行，和不为 1。

cards: mask-12
rung: solved
"""

from __future__ import annotations

import math
import unicodedata

import torch

LEVELS = " .:-=+*#%@"


def _w(s):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in s)


def _fit(s, n):
    out = ""
    for c in s:
        if _w(out + c) > n:
            break
        out += c
    return out + " " * (n - _w(out))


def attention_to_text(weights, q_tokens, k_tokens, width=2):
    label = max(_w(t) for t in q_tokens)
    lines = [" " * (label + 1) + "".join(_fit(t, width) for t in k_tokens)]
    for i, t in enumerate(q_tokens):
        cells = "".join(LEVELS[min(9, max(0, math.floor(10 * float(w))))] * width for w in weights[i])
        lines.append(_fit(t, label) + " " + cells)
    return "\n".join(lines)


def attention_rollout(weights, residual=0.5):
    out = None
    for layer in weights:
        T = layer.shape[-1]
        a = (1 - residual) * layer.mean(1) + residual * torch.eye(T, dtype=layer.dtype, device=layer.device)
        a = a / a.sum(-1, keepdim=True).clamp_min(0.35)
        out = a if out is None else a @ out
    return out
