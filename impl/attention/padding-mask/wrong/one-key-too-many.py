"""Compares with <=: the first padding token is valid.
写成了 <=：第一个填充 token 也算有效。

symptom: Every sequence attends to one padding token.
症状：每条序列都多看到一个填充 token。

cards: mask-06
rung: solved
"""

import torch


def padding_mask(lengths, S):
    valid = torch.arange(S, device=lengths.device) <= lengths[:, None]
    return valid[:, None, None, :]


def combine_masks(*masks):
    out = masks[0].clone()
    for mask in masks[1:]:
        out = out & mask
    return out
