"""Pads rows that do not fit instead of raising.
长度不合适时补零，不报错。

symptom: The result has another shape than the checkpoint expects, found out only when it is loaded.
症状：结果的形状与检查点预期的不同，加载时才发现。

cards: prec-11
rung: solved
"""

import torch
import torch.nn.functional as F


def quantize_int4(w, group):
    x = F.pad(w.to(torch.promote_types(w.dtype, torch.float32)), (0, -w.shape[1] % group))
    O, I = x.shape
    x = x.reshape(O, I // group, group)
    scales = x.abs().amax(dim=-1) / 7
    scales = torch.where(scales == 0, torch.ones_like(scales), scales)
    q = (x / scales[..., None]).round().to(torch.int32).reshape(O, I)
    q = F.pad(q, (0, I % 2))
    low, high = q[:, 0::2] & 0xF, q[:, 1::2] & 0xF
    return (low | high << 4).to(torch.uint8), scales
