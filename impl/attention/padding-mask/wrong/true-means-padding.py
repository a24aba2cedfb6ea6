"""Marks the padding True, as key_padding_mask does.
像 key_padding_mask 那样，填充处为 True。

symptom: Attention sees the padding and nothing else.
症状：注意力只看得到填充。

cards: mask-06
rung: solved
"""

import torch


def padding_mask(lengths, S):
    valid = torch.arange(S, device=lengths.device) >= lengths[:, None]
    return valid[:, None, None, :]


def combine_masks(*masks):
    out = masks[0].clone()
    for mask in masks[1:]:
        out = out & mask
    return out
