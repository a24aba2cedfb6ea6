"""Adds b2 in float32 and forgets to cast back.
用 float32 加 b2，忘了转回去。

symptom: 16-bit inputs come back as float32.
症状：16 位输入返回的却是 float32。

cards: prec-07
rung: hardened
"""

import torch


def tp_mlp(x, w1_shards, b1_shards, w2_shards, b2, act, all_reduce):
    partials = []
    for w1, b1, w2 in zip(w1_shards, b1_shards, w2_shards):
        partials.append(act(x @ w1 + b1) @ w2)
    return all_reduce(partials) + b2.to(torch.promote_types(b2.dtype, torch.float32))
