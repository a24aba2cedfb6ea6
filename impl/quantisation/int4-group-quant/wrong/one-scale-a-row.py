"""Gives all groups of a row the scale of the row.
一行里的所有组共用这一行的 scale。

symptom: One outlier coarsens the whole row, which groups are there to prevent.
症状：一个离群值让整行变粗，而分组正是为了避免这一点。

cards: prec-13
rung: solved
"""

import torch


def quantize_int4(w, group):
    O, I = w.shape
    if I % 2 or I % group:
        raise ValueError("I must be even and a multiple of the group")
    x = w.to(torch.promote_types(w.dtype, torch.float32)).reshape(O, I // group, group)
    scales = x.abs().amax(dim=(1, 2)).div(7)[:, None].expand(O, I // group).contiguous()
    scales = torch.where(scales == 0, torch.ones_like(scales), scales)
    q = (x / scales[..., None]).round().to(torch.int32).reshape(O, I)
    low, high = q[:, 0::2] & 0xF, q[:, 1::2] & 0xF
    return (low | high << 4).to(torch.uint8), scales
