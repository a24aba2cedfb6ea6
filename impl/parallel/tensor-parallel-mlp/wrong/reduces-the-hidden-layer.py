"""Gathers the hidden layer by an all-reduce, and needs a second one at the end.
先用一次 all-reduce 汇集隐藏层，最后又要一次。

symptom: A second all-reduce, of (..., F): at F = 4D five times the communication.
症状：多一次 all-reduce，传的是 (..., F)：F = 4D 时通信量是五倍。

cards: dist-05
rung: solved
"""

import torch


def tp_mlp(x, w1_shards, b1_shards, w2_shards, b2, act, all_reduce):
    widths = [w.shape[1] for w in w1_shards]
    padded, start = [], 0
    for w1, b1 in zip(w1_shards, b1_shards):
        whole = x.new_zeros(*x.shape[:-1], sum(widths))
        whole[..., start : start + w1.shape[1]] = x @ w1 + b1
        padded.append(whole)
        start += w1.shape[1]
    hidden = act(all_reduce(padded))
    return all_reduce([h @ w for h, w in zip(hidden.split(widths, -1), w2_shards)]) + b2
