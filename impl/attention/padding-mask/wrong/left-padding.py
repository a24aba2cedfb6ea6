"""Takes the padding to be on the left.
当成左填充。

symptom: The last tokens are valid, the first are hidden.
症状：有效的成了末尾，开头被挡住。

cards: mask-10
rung: solved
"""

import torch


def padding_mask(lengths, S):
    valid = torch.arange(S, device=lengths.device) >= S - lengths[:, None]
    return valid[:, None, None, :]


def combine_masks(*masks):
    out = masks[0].clone()
    for mask in masks[1:]:
        out = out & mask
    return out
