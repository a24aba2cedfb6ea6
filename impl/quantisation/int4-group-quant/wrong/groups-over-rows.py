"""Takes groups along O.
沿 O 方向分组。

symptom: The scales have another shape, or on square weights another meaning.
症状：scales 的形状不对；方阵上形状对了，含义却不同。

cards: prec-11
rung: solved
"""

import torch


def quantize_int4(w, group):
    O, I = w.shape
    if I % 2 or I % group:
        raise ValueError("I must be even and a multiple of the group")
    x = w.to(torch.promote_types(w.dtype, torch.float32)).T.reshape(I // group, group, O).transpose(1, 2)
    columns = x.abs().amax(dim=(0, 2)) / 7
    scales = torch.where(columns == 0, torch.ones_like(columns), columns)[:, None].expand(O, I // group).contiguous()
    q = (w.to(scales.dtype) / scales[:, :1]).round().to(torch.int32)
    low, high = q[:, 0::2] & 0xF, q[:, 1::2] & 0xF
    return (low | high << 4).to(torch.uint8), scales
