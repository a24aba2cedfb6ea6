"""Combines the first two masks only.
只合并前两个掩码。

symptom: The third mask has no effect.
症状：第三个掩码不起作用。

cards: mask-06
rung: solved
"""

import torch


def padding_mask(lengths, S):
    valid = torch.arange(S, device=lengths.device) < lengths[:, None]
    return valid[:, None, None, :]


def combine_masks(*masks):
    if len(masks) == 1:
        return masks[0].clone()
    return masks[0] & masks[1]
