"""Writes the sign as the top bit over the magnitude.
用最高位表示符号，其余放绝对值。

symptom: −1 is read as −7, and the other way round.
症状：−1 读成 −7，反过来也是。

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
    codes = q.abs() | (q < 0).int() << 3
    low, high = codes[:, 0::2], codes[:, 1::2]
    return (low | high << 4).to(torch.uint8), scales
