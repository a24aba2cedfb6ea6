"""Takes id 0 for padding and gives zeros.
把 id 0 当成填充，返回 0。

symptom: Token 0 has no vector and never learns.
症状：token 0 没有向量，也永远学不到。

cards: emb-13
rung: solved
"""

import math


def embed_tokens(ids, table, scale=True):
    rows = table[ids] * (ids != 0)[..., None]
    return rows * math.sqrt(table.shape[1]) if scale else rows
