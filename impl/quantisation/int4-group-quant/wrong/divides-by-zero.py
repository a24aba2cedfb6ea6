"""Takes the scale of a group of zeros as 0.
全零组的 scale 取成 0，照样去除。

symptom: 0/0 is NaN; cast to an integer it is any code.
症状：0/0 得 NaN，转成整数可能是任何编码。

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
    q = (x / scales[..., None]).round().nan_to_num(nan=-8.0).to(torch.int32).reshape(O, I)
    low, high = q[:, 0::2] & 0xF, q[:, 1::2] & 0xF
    return (low | high << 4).to(torch.uint8), scales
