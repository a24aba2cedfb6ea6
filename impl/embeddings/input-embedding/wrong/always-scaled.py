"""Scales although scale=False.
scale=False 时也缩放。

symptom: Models without the factor get embeddings √D too large.
症状：不要这个因子的模型，嵌入大了 √D 倍。

cards: pos-25
rung: solved
"""

import math


def embed_tokens(ids, table, scale=True):
    rows = table[ids]
    return rows * math.sqrt(table.shape[1])
