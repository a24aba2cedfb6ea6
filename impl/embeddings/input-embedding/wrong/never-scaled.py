"""Never scales.
从不缩放。

symptom: Off by √D with the default.
症状：默认情况下差 √D 倍。

cards: pos-25
rung: solved
"""

import math


def embed_tokens(ids, table, scale=True):
    rows = table[ids]
    return rows
