"""Python lists, row by row: walks down the ranking until a rule says stop."""
import math

import torch


def kept(row, top_k, top_p, min_p):
    order = sorted(range(len(row)), key=lambda i: (-row[i], i))[: top_k or None]
    weights = [math.exp(row[i] - row[order[0]]) for i in order]
    total, mass, keep = sum(weights), 0.0, set()
    for i, w in zip(order, weights):
        if top_p and top_p < 1 and mass >= top_p * total:
            break
        if min_p and w < min_p * weights[0]:
            break
        keep.add(i)
        mass += w
    return [v if i in keep else -math.inf for i, v in enumerate(row)]


def filter_logits(logits, top_k=None, top_p=None, min_p=None, temperature=1.0):
    wide = logits.double() / temperature
    rows = [kept(row, top_k, top_p, min_p) for row in wide.tolist()]
    return torch.tensor(rows, dtype=torch.float64, device=logits.device).to(logits.dtype)
