"""Stacks the shards and takes them for equally wide.
把分片 stack 起来，以为各 rank 一样宽。

symptom: An error as soon as F is not a multiple of P; and one tensor holds all ranks.
症状：F 不是 P 的倍数就报错；而且一个张量装着所有 rank。

cards: dist-05
rung: solved
"""

import torch


def tp_mlp(x, w1_shards, b1_shards, w2_shards, b2, act, all_reduce):
    P, flat = len(w1_shards), x.reshape(-1, x.shape[-1])
    hidden = act(torch.einsum("nd,pdf->pnf", flat, torch.stack(w1_shards)) + torch.stack(b1_shards)[:, None])
    partials = torch.einsum("pnf,pfd->pnd", hidden, torch.stack(w2_shards))
    return all_reduce([partials[p].reshape(x.shape) for p in range(P)]) + b2
