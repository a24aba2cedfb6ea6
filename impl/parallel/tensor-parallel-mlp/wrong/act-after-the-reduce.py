"""Applies act to the sum at the end.
最后才对求和结果作用 act。

symptom: The MLP is linear up to there: W1·W2 is one matrix.
症状：在那之前整个 MLP 是线性的：W1·W2 就是一个矩阵。

cards: dist-05
rung: solved
"""

import torch


def tp_mlp(x, w1_shards, b1_shards, w2_shards, b2, act, all_reduce):
    partials = []
    for w1, b1, w2 in zip(w1_shards, b1_shards, w2_shards):
        partials.append((x @ w1 + b1) @ w2)
    return act(all_reduce(partials) + b2)
