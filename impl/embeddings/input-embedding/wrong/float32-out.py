"""Returns float32 whatever the table's dtype.
不管表是什么 dtype，都返回 float32。

symptom: A bfloat16 model goes on in float32.
症状：bfloat16 的模型从此变成 float32。

cards: prec-07
rung: hardened
"""

import math


def embed_tokens(ids, table, scale=True):
    rows = table[ids] if table.dtype.itemsize > 2 else table[ids].float()
    return rows * math.sqrt(table.shape[1]) if scale else rows
