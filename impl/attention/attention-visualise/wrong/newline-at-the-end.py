"""Ends with a newline.
末尾多了换行。

symptom: An empty line follows every map.
症状：每张图后面多出一个空行。

cards: eval-06
rung: solved
"""
import math
import unicodedata

import torch

LEVELS = " .:-=+*#%@"


def columns(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def fitted(text, width):
    while columns(text) > width:
        text = text[:-1]
    return text + " " * (width - columns(text))


def attention_to_text(weights, q_tokens, k_tokens, width=2):
    label = max(columns(q) for q in q_tokens)
    lines = [" " * label + " " + "".join(fitted(k, width) for k in k_tokens)]
    for q, row in zip(q_tokens, weights.tolist()):
        cells = "".join(LEVELS[min(9, max(0, math.floor(10 * w)))] * width for w in row)
        lines.append(fitted(q, label) + " " + cells)
    return "\n".join(lines) + "\n"


def attention_rollout(weights, residual=0.5):
    eye = torch.eye(weights[0].shape[-1], dtype=weights[0].dtype, device=weights[0].device)
    result = eye
    for layer in weights:
        mixed = (1 - residual) * layer.mean(1) + residual * eye
        mixed = mixed / mixed.sum(-1, keepdim=True)
        result = mixed @ result
    return result
