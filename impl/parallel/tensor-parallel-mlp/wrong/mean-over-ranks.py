"""Divides the sum by P.
把和除以了 P。

symptom: Results shrink as ranks are added: this is what data parallelism does to gradients.
症状：rank 越多结果越小：那是数据并行对梯度的做法。

cards: dist-05, dist-01
rung: solved
"""

import torch


def tp_mlp(x, w1_shards, b1_shards, w2_shards, b2, act, all_reduce):
    partials = []
    for w1, b1, w2 in zip(w1_shards, b1_shards, w2_shards):
        partials.append(act(x @ w1 + b1) @ w2)
    return all_reduce(partials) / len(partials) + b2
