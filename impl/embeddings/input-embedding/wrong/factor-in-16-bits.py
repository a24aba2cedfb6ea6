"""Rounds √D to the dtype of the table.
把 √D 舍入成表的 dtype。

symptom: In bfloat16 √D itself is off by 0.35 % at D = 19.
症状：bfloat16 下 √D 在 D = 19 时就差 0.35 %。

cards: prec-07
rung: hardened
"""

import torch


def embed_tokens(ids, table, scale=True):
    rows = table[ids]
    if not scale:
        return rows
    return rows * torch.tensor(table.shape[1], dtype=table.dtype, device=table.device).sqrt()
