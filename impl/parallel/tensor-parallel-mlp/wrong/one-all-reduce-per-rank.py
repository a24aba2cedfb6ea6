"""Calls all_reduce for each rank, which sends a term and zeros.
每个 rank 调用一次 all_reduce，只送自己那一项，其余补零。

symptom: P all-reduces: the network waits P times.
症状：P 次 all-reduce：要等网络 P 次。

cards: dist-05
rung: solved
"""

import torch


def tp_mlp(x, w1_shards, b1_shards, w2_shards, b2, act, all_reduce):
    partials = []
    for w1, b1, w2 in zip(w1_shards, b1_shards, w2_shards):
        partials.append(act(x @ w1 + b1) @ w2)
    total, zero = b2, torch.zeros_like(partials[0])
    for p, part in enumerate(partials):
        total = total + all_reduce([part if q == p else zero for q in range(len(partials))])
    return total
