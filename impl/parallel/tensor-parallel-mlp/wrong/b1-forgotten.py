"""Leaves b1 out.
漏掉了 b1。

symptom: Right only while b1 is 0, as at the start of training.
症状：只有 b1 为 0（如训练刚开始）时才对。

cards: ffn-01
rung: solved
"""

import torch


def tp_mlp(x, w1_shards, b1_shards, w2_shards, b2, act, all_reduce):
    partials = []
    for w1, _, w2 in zip(w1_shards, b1_shards, w2_shards):
        partials.append(act(x @ w1) @ w2)
    return all_reduce(partials) + b2
