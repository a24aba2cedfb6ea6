"""Divides the gradient of a token by how often it occurs.
把 token 的梯度除以出现次数。

symptom: Frequent tokens learn as slowly as rare ones.
症状：高频 token 学得和罕见 token 一样慢。

cards: emb-07
rung: solved
"""

import math

import torch


def embed_tokens(ids, table, scale=True):
    counts = torch.bincount(ids.flatten(), minlength=table.shape[0]).clamp(min=1)
    shared = table / counts[:, None]
    rows = shared[ids] + (table - shared).detach()[ids]
    return rows * math.sqrt(table.shape[1]) if scale else rows
