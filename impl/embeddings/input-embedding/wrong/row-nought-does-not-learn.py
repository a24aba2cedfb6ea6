"""Cuts the gradient of id 0, as padding_idx=0 does.
像 padding_idx=0 那样，切断 id 0 的梯度。

symptom: The values are right; row 0 keeps its initial vector for ever.
症状：值都对，第 0 行却永远停在初值。

cards: emb-13
rung: solved
"""

import math

import torch


def embed_tokens(ids, table, scale=True):
    padding = (ids == 0)[..., None]
    rows = torch.where(padding, table.detach()[ids], table[ids])
    return rows * math.sqrt(table.shape[1]) if scale else rows
