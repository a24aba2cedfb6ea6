"""Stores q + 8 instead of two's complement.
存的是 q + 8，不是补码。

symptom: 0 is read as −8; every code is off by 8.
症状：0 读出来是 −8，每个编码都差 8。

cards: prec-21
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
    q = (x / scales[..., None]).round().to(torch.int32).reshape(O, I)
    low, high = q[:, 0::2] + 8, q[:, 1::2] + 8
    return (low | high << 4).to(torch.uint8), scales
