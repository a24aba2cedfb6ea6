"""Carries the transposed product, so that layers multiply from the right."""
import unicodedata

import torch


def take(text, columns):
    taken, left = [], columns
    for c in text:
        need = 2 if unicodedata.east_asian_width(c) in "FW" else 1
        if need > left:
            break
        taken.append(c)
        left -= need
    return "".join(taken) + left * " "


def attention_to_text(weights, q_tokens, k_tokens, width=2):
    label = max(len(q.encode("utf-32-le")) // 4 + sum(unicodedata.east_asian_width(c) in "FW" for c in q) for q in q_tokens)
    picture = [take("", label) + " " + "".join([take(k, width) for k in k_tokens])]
    for t in range(len(q_tokens)):
        line = take(q_tokens[t], label) + " "
        for s in range(len(k_tokens)):
            ten = int(torch.floor(weights[t][s] * 10))
            line += " .:-=+*#%@"[sorted((0, ten, 9))[1]] * width
        picture.append(line)
    return "\n".join(picture)


def attention_rollout(weights, residual=0.5):
    carried = None
    for a in weights:
        m = a.mean(1).mul(1 - residual)
        m = m.diagonal_scatter(m.diagonal(dim1=1, dim2=2) + residual, dim1=1, dim2=2)
        m = (m / m.sum(2)[:, :, None]).mT
        carried = m if carried is None else carried @ m
    return carried.mT.clone()
