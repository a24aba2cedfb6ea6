"""Puts the keys where the queries belong: (B, 1, S, 1).
放到 query 那一维上：(B, 1, S, 1)。

symptom: Padding queries see nothing, and all others see the padding.
症状：填充的 query 什么都看不到，其他 query 却看得到填充。

cards: mask-06
rung: solved
"""

import torch


def padding_mask(lengths, S):
    valid = torch.arange(S, device=lengths.device) < lengths[:, None]
    return valid[:, None, :, None]


def combine_masks(*masks):
    out = masks[0].clone()
    for mask in masks[1:]:
        out = out & mask
    return out
