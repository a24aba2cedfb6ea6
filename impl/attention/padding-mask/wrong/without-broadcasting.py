"""Stacks the masks as they are.
不广播就直接 stack。

symptom: Works for masks of equal shape only.
症状：只有形状相同的掩码才行。

cards: mask-06
rung: solved
"""

import torch


def padding_mask(lengths, S):
    valid = torch.arange(S, device=lengths.device) < lengths[:, None]
    return valid[:, None, None, :]


def combine_masks(*masks):
    return torch.stack(masks).all(0)
