"""Cuts the transposed matrix into blocks.
把转置后的矩阵切块。

symptom: Every block is another set of numbers.
症状：每一块里的数都不对。

cards: prec-11
rung: solved
"""

import torch

LEVELS = [
    *(-1.0, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.09105004, 0.0),
    *(0.0795803, 0.1609302, 0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0),
]


def nf4_quantize(w, block=64):
    x = w.to(torch.promote_types(w.dtype, torch.float32))
    table = torch.tensor(LEVELS, dtype=x.dtype, device=w.device)
    blocks = (x.transpose(-1, -2) if x.dim() > 1 else x).reshape(*x.shape[:-1], -1, block)
    absmax = blocks.abs().amax(dim=-1)
    divisor = torch.where(absmax == 0, torch.ones_like(absmax), absmax)
    normal = (blocks / divisor[..., None]).flatten(-2)
    codes = torch.bucketize(normal, (table[1:] + table[:-1]) / 2)
    packed = codes[..., 0::2] | codes[..., 1::2] << 4
    return packed.to(torch.uint8), absmax
