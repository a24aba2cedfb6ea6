"""Adds b2 on every rank.
每个 rank 都加了 b2。

symptom: The result holds P · b2; right for P = 1.
症状：结果里是 P · b2；只有 P = 1 时对。

cards: dist-05
rung: solved
"""

import torch


def tp_mlp(x, w1_shards, b1_shards, w2_shards, b2, act, all_reduce):
    partials = []
    for w1, b1, w2 in zip(w1_shards, b1_shards, w2_shards):
        partials.append(act(x @ w1 + b1) @ w2 + b2)
    return all_reduce(partials)
