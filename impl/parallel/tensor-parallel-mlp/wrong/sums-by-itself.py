"""Sums the terms without all_reduce.
自己把各项加起来，没有调用 all_reduce。

symptom: On real ranks each would return its own term.
症状：放到真实的 rank 上，各自返回的只是自己那一项。

cards: dist-05
rung: solved
"""

import torch


def tp_mlp(x, w1_shards, b1_shards, w2_shards, b2, act, all_reduce):
    partials = []
    for w1, b1, w2 in zip(w1_shards, b1_shards, w2_shards):
        partials.append(act(x @ w1 + b1) @ w2)
    return sum(partials) + b2
