"""Takes √V, the table's first size.
用了 √V，表的第一维。

symptom: Right only where V = D.
症状：只有 V = D 时才对。

cards: pos-25
rung: solved
"""

import math


def embed_tokens(ids, table, scale=True):
    rows = table[ids]
    return rows * math.sqrt(table.shape[0]) if scale else rows
