"""Calls no all_reduce where there is one rank.
只有一个 rank 时不调用 all_reduce。

symptom: What was asked for is one call, whatever P is.
症状：题目要求无论 P 是几都调用一次。

cards: dist-05
rung: solved
"""

import torch


def tp_mlp(x, w1_shards, b1_shards, w2_shards, b2, act, all_reduce):
    partials = []
    for w1, b1, w2 in zip(w1_shards, b1_shards, w2_shards):
        partials.append(act(x @ w1 + b1) @ w2)
    if len(partials) == 1:
        return partials[0] + b2
    return all_reduce(partials) + b2
