"""Casts to integers without rounding.
没有舍入就转成整数。

symptom: Everything shrinks by half a step on average.
症状：所有数平均缩小半步。

cards: prec-12
rung: solved
"""

import torch


def quantize_int4(w, group):
    O, I = w.shape
    if I % 2 or I % group:
        raise ValueError("I must be even and a multiple of the group")
    x = w.to(torch.promote_types(w.dtype, torch.float32)).reshape(O, I // group, group)
    scales = x.abs().amax(dim=-1) / 7
    scales = torch.where(scales == 0, torch.ones_like(scales), scales)
    q = (x / scales[..., None]).to(torch.int32).reshape(O, I)
    low, high = q[:, 0::2] & 0xF, q[:, 1::2] & 0xF
    return (low | high << 4).to(torch.uint8), scales
