"""Divides by √D, as attention scores are.
像注意力分数那样除以 √D。

symptom: Positions drown the tokens.
症状：token 被位置编码淹没。

cards: pos-25
rung: solved
"""

import math


def embed_tokens(ids, table, scale=True):
    rows = table[ids]
    return rows / math.sqrt(table.shape[1]) if scale else rows
