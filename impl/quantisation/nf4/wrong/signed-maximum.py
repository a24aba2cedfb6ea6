"""Takes the largest number of a block instead of the largest magnitude.
取块内最大值，不是绝对值最大。

symptom: Large negative weights are cut off at −1.
症状：绝对值大的负权重被截断到 −1。

cards: prec-16
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
    blocks = x.unflatten(-1, (-1, block))
    absmax = blocks.amax(dim=-1)
    divisor = torch.where(absmax == 0, torch.ones_like(absmax), absmax)
    normal = (blocks / divisor[..., None]).flatten(-2)
    codes = torch.bucketize(normal, (table[1:] + table[:-1]) / 2)
    packed = codes[..., 0::2] | codes[..., 1::2] << 4
    return packed.to(torch.uint8), absmax
