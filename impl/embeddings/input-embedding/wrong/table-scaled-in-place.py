"""Scales the table in place.
原地缩放整张表。

symptom: Every call makes the embeddings √D larger.
症状：每调用一次，嵌入就再大 √D 倍。

cards: pos-25
rung: solved
"""

import math

import torch


def embed_tokens(ids, table, scale=True):
    if scale:
        with torch.no_grad():
            table *= math.sqrt(table.shape[1])
    return table[ids]
