"""Multiplies by D.
乘的是 D，不是 √D。

symptom: Embeddings are √D times too large.
症状：嵌入大了 √D 倍。

cards: pos-25
rung: solved
"""

import math


def embed_tokens(ids, table, scale=True):
    rows = table[ids]
    return rows * table.shape[1] if scale else rows
