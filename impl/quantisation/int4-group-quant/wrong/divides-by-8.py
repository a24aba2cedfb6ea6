"""Divides the range by 8 and clamps at 7.
范围除以 8，再截断到 7。

symptom: The largest positive number of a group is off by a whole step.
症状：组内最大的正数差一整步。

cards: prec-12
rung: solved
"""

import torch


def quantize_int4(w, group):
    O, I = w.shape
    if I % 2 or I % group:
        raise ValueError("I must be even and a multiple of the group")
    x = w.to(torch.promote_types(w.dtype, torch.float32)).reshape(O, I // group, group)
    scales = x.abs().amax(dim=-1) / 8
    scales = torch.where(scales == 0, torch.ones_like(scales), scales)
    q = (x / scales[..., None]).round().clamp(-8, 7).to(torch.int32).reshape(O, I)
    low, high = q[:, 0::2] & 0xF, q[:, 1::2] & 0xF
    return (low | high << 4).to(torch.uint8), scales
