"""A list of characters; rolls out from the last layer downwards."""
import math
from unicodedata import east_asian_width as kind

import torch


def wide(c):
    return 2 if kind(c) in {"W", "F"} else 1


def put(out, text, columns):
    used = 0
    for c in text:
        if used + wide(c) > columns:
            break
        out.append(c)
        used += wide(c)
    out.extend(" " for _ in range(columns - used))


def attention_to_text(weights, q_tokens, k_tokens, width=2):
    margin = 0
    for token in q_tokens:
        margin = max(margin, sum(wide(c) for c in token))
    out = [" "] * (margin + 1)
    for token in k_tokens:
        put(out, token, width)
    for i, token in enumerate(q_tokens):
        out.append("\n")
        put(out, token, margin)
        out.append(" ")
        for j in range(len(k_tokens)):
            level = math.floor(10 * float(weights[i, j]))
            level = 9 if level > 9 else 0 if level < 0 else level
            out.extend(" .:-=+*#%@"[level] for _ in range(width))
    return "".join(out)


def attention_rollout(weights, residual=0.5):
    result = None
    for a in reversed(weights):
        mean = a.sum(1) / a.shape[1]
        m = mean * (1 - residual)
        m = m + torch.diag_embed(torch.full_like(m[..., 0], residual))
        m = m / m.sum(-1, keepdim=True)
        result = m if result is None else torch.bmm(result, m)
    return result
