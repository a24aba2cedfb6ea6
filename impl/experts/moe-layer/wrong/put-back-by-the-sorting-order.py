"""Puts outputs back with the sorting order itself, not with its inverse.
放回输出时用了排序的下标本身，没有取逆。

symptom: Tokens get outputs of other tokens, unless the order is its own inverse.
症状：token 拿到别的 token 的输出；排序恰好是自身的逆时才对。

cards: moe-24
rung: solved
"""

import torch


def moe_forward(x, wg, w1, w2, k, shared=None):
    N, D = x.shape
    E = wg.shape[1]
    gates, idx = (x @ wg).softmax(-1).topk(k, dim=-1)
    flat = idx.flatten()  # (N·k,)
    order = flat.argsort(stable=True)
    counts = torch.bincount(flat, minlength=E).tolist()
    pieces = x[order // k].split(counts)
    outs = torch.cat([(piece @ w1[e]).relu() @ w2[e] for e, piece in enumerate(pieces)])  # (N·k, D), by expert
    outs = outs[order].reshape(N, k, D)
    out = (gates[..., None] * outs).sum(1)
    if shared is not None:
        out = out + (x @ shared[0]).relu() @ shared[1]
    return out
