"""Joins the halves without cutting off the sign bits.
拼接前没有切掉符号位。

symptom: A negative even element sets all four bits of its neighbour: it becomes −1.
症状：偶数位是负数时，邻居的四位全被置 1，变成 −1。

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
    low, high = q[:, 0::2], q[:, 1::2]
    return (low | high << 4).to(torch.uint8), scales
