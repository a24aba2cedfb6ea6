"""Stores each code in a byte of its own.
一个编码占一个字节。

symptom: As large as int8, with the precision of int4.
症状：占用和 int8 一样，精度却只有 int4。

cards: prec-10
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
    return (q & 0xF).to(torch.uint8), scales
