"""Combines into the first mask where shapes allow.
形状允许时，直接合并到第一个掩码里。

symptom: The caller's causal mask changes from batch to batch.
症状：调用者的因果掩码一个 batch 一个样。

cards: mask-06
rung: solved
"""

import torch


def padding_mask(lengths, S):
    valid = torch.arange(S, device=lengths.device) < lengths[:, None]
    return valid[:, None, None, :]


def combine_masks(*masks):
    out = masks[0]
    for mask in masks[1:]:
        if torch.broadcast_shapes(out.shape, mask.shape) == out.shape:
            out &= mask
        else:
            out = out & mask
    return out if len(masks) > 1 else out.clone()
