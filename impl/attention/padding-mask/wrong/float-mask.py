"""Returns floats.
返回浮点数。

symptom: `mask & other` fails, or the mask is added to scores.
症状：`mask & other` 报错，或被直接加到分数上。

cards: mask-01
rung: solved
"""

import torch


def padding_mask(lengths, S):
    valid = torch.arange(S, device=lengths.device) < lengths[:, None]
    return valid[:, None, None, :].float()


def combine_masks(*masks):
    out = masks[0].bool()
    for mask in masks[1:]:
        out = out & mask.bool()
    return out.clone()
