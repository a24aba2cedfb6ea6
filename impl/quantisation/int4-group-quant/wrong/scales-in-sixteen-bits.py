"""Computes the scales of 16-bit weights in 16 bits.
16 位权重的 scale 也用 16 位算。

symptom: A bfloat16 scale is off by up to 1 part in 512, and each weight near the maximum with it.
症状：bfloat16 的 scale 可差 1/512，靠近最大值的权重跟着偏。

cards: prec-01
rung: hardened
"""

import torch


def quantize_int4(w, group):
    O, I = w.shape
    if I % 2 or I % group:
        raise ValueError("I must be even and a multiple of the group")
    x = w.reshape(O, I // group, group)
    scales = x.abs().amax(dim=-1) / 7
    scales = torch.where(scales == 0, torch.ones_like(scales), scales)
    q = (x / scales[..., None]).round().to(torch.int32).reshape(O, I)
    low, high = q[:, 0::2] & 0xF, q[:, 1::2] & 0xF
    return (low | high << 4).to(torch.uint8), scales
