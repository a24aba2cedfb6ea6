"""Adds b1 after the activation.
激活之后才加 b1。

symptom: Hidden units have another threshold.
症状：隐藏单元的阈值变了。

cards: ffn-01
rung: solved
"""

import torch


def tp_mlp(x, w1_shards, b1_shards, w2_shards, b2, act, all_reduce):
    partials = []
    for w1, b1, w2 in zip(w1_shards, b1_shards, w2_shards):
        partials.append((act(x @ w1) + b1) @ w2)
    return all_reduce(partials) + b2
