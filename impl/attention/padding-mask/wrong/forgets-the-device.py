"""Makes the positions on the default device.
位置建在默认设备上。

symptom: Fails on the GPU: tensors on two devices.
症状：在 GPU 上报设备不一致。

cards: mask-06
rung: hardened
"""

import torch


def padding_mask(lengths, S):
    valid = torch.arange(S) < lengths[:, None]
    return valid[:, None, None, :]


def combine_masks(*masks):
    out = masks[0].clone()
    for mask in masks[1:]:
        out = out & mask
    return out
