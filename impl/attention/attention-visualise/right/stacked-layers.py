"""Stacks and normalises all layers at once, multiplies in a tree."""
import unicodedata

import torch

WIDE = frozenset("WF")


def shown(text):
    return sum(1 + (unicodedata.east_asian_width(c) in WIDE) for c in text)


def clip(text, columns):
    lengths = [shown(text[:n]) for n in range(len(text) + 1)]
    best = max(n for n, length in enumerate(lengths) if length <= columns)
    return text[:best].ljust(best + columns - lengths[best])


def attention_to_text(weights, q_tokens, k_tokens, width=2):
    label = max(shown(q) for q in q_tokens)
    rows = [f"{clip('', label)} {''.join(clip(k, width) for k in k_tokens)}"]
    steps = torch.arange(1, 10, device=weights.device)
    for q, row in zip(q_tokens, weights):
        level = (row[:, None] * 10 >= steps).sum(-1)
        rows.append(f"{clip(q, label)} {''.join(width * ' .:-=+*#%@'[n] for n in level.tolist())}")
    return "\n".join(rows)


def product(a):
    if a.shape[0] == 1:
        return a[0]
    half = a.shape[0] // 2
    return product(a[half:]) @ product(a[:half])


def attention_rollout(weights, residual=0.5):
    a = torch.stack([heads.mean(1) for heads in weights])
    a = torch.lerp(a, torch.eye(a.shape[-1], dtype=a.dtype, device=a.device).expand_as(a), residual)
    return product(a / a.sum(-1, keepdim=True))
