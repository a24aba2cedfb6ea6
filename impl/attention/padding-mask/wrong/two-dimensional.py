"""Returns (B, S).
返回 (B, S)。

symptom: Against (B, H, T, S) it is read as (T, S), or does not broadcast.
症状：和 (B, H, T, S) 广播时被当成 (T, S)，或根本广播不了。

cards: mask-06
rung: solved
"""

import torch


def padding_mask(lengths, S):
    valid = torch.arange(S, device=lengths.device) < lengths[:, None]
    return valid


def combine_masks(*masks):
    out = masks[0].clone()
    for mask in masks[1:]:
        out = out & mask
    return out
