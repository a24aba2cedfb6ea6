"""Hands a single mask back as it is.
只有一个掩码时原样返回。

symptom: Who edits the result edits the argument.
症状：改了结果，参数也跟着变。

cards: mask-06
rung: hardened
"""

import torch


def padding_mask(lengths, S):
    valid = torch.arange(S, device=lengths.device) < lengths[:, None]
    return valid[:, None, None, :]


def combine_masks(*masks):
    out = masks[0]
    for mask in masks[1:]:
        out = out & mask
    return out
