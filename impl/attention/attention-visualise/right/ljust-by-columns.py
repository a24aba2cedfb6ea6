"""Measures with a generator of columns, draws with join and translate; rollout by einsum."""
import functools
import unicodedata

import torch


def columns(text):
    return len(text) + sum(unicodedata.east_asian_width(c) in ("W", "F") for c in text)


def cell(text, width):
    while columns(text) > width:
        text = text[:-1]
    return text + " " * (width - columns(text))


def attention_to_text(weights, q_tokens, k_tokens, width=2):
    levels = (weights * 10).floor().clamp(0, 9).long().tolist()
    margin = max(map(columns, q_tokens))
    head = cell("", margin) + " " + "".join(cell(k, width) for k in k_tokens)
    body = [
        cell(q, margin) + " " + "".join(" .:-=+*#%@"[level] * width for level in row)
        for q, row in zip(q_tokens, levels)
    ]
    return "\n".join([head, *body])


def attention_rollout(weights, residual=0.5):
    T = weights[0].size(-1)
    eye = torch.eye(T, dtype=weights[0].dtype, device=weights[0].device)

    def mixed(a):
        m = torch.einsum("bhts->bts", a) / a.size(1) * (1 - residual) + residual * eye
        return m / m.sum(2, keepdim=True)

    return functools.reduce(lambda done, a: torch.einsum("bts,bsu->btu", mixed(a), done), weights[1:], mixed(weights[0]))
