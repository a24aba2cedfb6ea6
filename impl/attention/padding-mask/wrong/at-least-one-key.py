"""Lets every sequence keep one key, so that no row is empty.
每条序列至少留一个 key，免得出现空行。

symptom: A sequence of length 0 attends to padding.
症状：长度为 0 的序列看到了填充。

cards: mask-04
rung: solved
"""

import torch


def padding_mask(lengths, S):
    valid = torch.arange(S, device=lengths.device) < lengths.clamp(min=1)[:, None]
    return valid[:, None, None, :]


def combine_masks(*masks):
    out = masks[0].clone()
    for mask in masks[1:]:
        out = out & mask
    return out
