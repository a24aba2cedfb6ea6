"""Combines with OR.
用逻辑或合并。

symptom: A later key that is no padding becomes visible again.
症状：未来的 key 只要不是填充，就又看得到了。

cards: mask-06
rung: solved
"""

import torch


def padding_mask(lengths, S):
    valid = torch.arange(S, device=lengths.device) < lengths[:, None]
    return valid[:, None, None, :]


def combine_masks(*masks):
    out = masks[0].clone()
    for mask in masks[1:]:
        out = out | mask
    return out
