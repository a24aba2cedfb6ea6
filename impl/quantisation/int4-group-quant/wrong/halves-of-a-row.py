"""Packs the first half of a row with the second half.
把一行的前半和后半配对打包。

symptom: Some kernels do so; here element 2j + 1 stands in the wrong byte.
症状：有的 kernel 确实这样排；这里第 2j + 1 个元素就放错了字节。

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
    low, high = q[:, : I // 2] & 0xF, q[:, I // 2 :] & 0xF
    return (low | high << 4).to(torch.uint8), scales
