"""Is as wide as the longest sequence, not S.
宽度取最长的序列，而不是 S。

symptom: Does not fit scores of a batch that is padded further.
症状：batch 填得更长时，和分数的形状对不上。

cards: mask-06
rung: solved
"""

import torch


def padding_mask(lengths, S):
    valid = torch.arange(int(lengths.max()), device=lengths.device) < lengths[:, None]
    return valid[:, None, None, :]


def combine_masks(*masks):
    out = masks[0].clone()
    for mask in masks[1:]:
        out = out & mask
    return out
