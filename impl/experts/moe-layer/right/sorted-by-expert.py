"""Sorts (token, choice) pairs by expert, runs contiguous pieces, scatters back."""
import torch


def moe_forward(x, wg, w1, w2, k, shared=None):
    N, D = x.shape
    E = wg.size(1)
    probs = torch.nn.functional.softmax(torch.matmul(x, wg), dim=1)
    gates, idx = probs.topk(k, dim=1)
    flat = idx.reshape(-1)
    order = torch.argsort(flat, stable=True)
    counts = torch.bincount(flat, minlength=E).tolist()
    token = torch.div(order, k, rounding_mode="floor")
    pieces = x.index_select(0, token).split(counts)
    outs = [torch.clamp(piece.matmul(w1[e]), min=0).matmul(w2[e]) for e, piece in enumerate(pieces)]
    weighted = torch.cat(outs) * gates.reshape(-1, 1).index_select(0, order)
    out = torch.zeros(N, D, dtype=x.dtype, device=x.device).scatter_add(0, token[:, None].expand(-1, D), weighted)
    if shared is None:
        return out
    a, b = shared
    return out + (x @ a).clamp(min=0) @ b
