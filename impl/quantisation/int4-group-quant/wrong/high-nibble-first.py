"""Packs the even elements into the high half.
偶数位元素放进了高半字节。

symptom: Neighbours are swapped when read by everybody else's code.
症状：别人的代码读出来，相邻两个数互换了。

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
    low, high = q[:, 0::2] & 0xF, q[:, 1::2] & 0xF
    return (high | low << 4).to(torch.uint8), scales
