"""Works in the dtype of 16-bit weights.
16 位权重就用 16 位算。

symptom: Numbers near a midpoint go to the other level; absmax comes back in bfloat16.
症状：靠近中点的数归到另一档；absmax 也成了 bfloat16。

cards: prec-07
rung: hardened
"""

import torch

LEVELS = [
    *(-1.0, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.09105004, 0.0),
    *(0.0795803, 0.1609302, 0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0),
]


def nf4_quantize(w, block=64):
    x = w
    table = torch.tensor(LEVELS, dtype=x.dtype, device=w.device)
    blocks = x.unflatten(-1, (-1, block))
    absmax = blocks.abs().amax(dim=-1)
    divisor = torch.where(absmax == 0, torch.ones_like(absmax), absmax)
    normal = (blocks / divisor[..., None]).flatten(-2)
    codes = torch.bucketize(normal, (table[1:] + table[:-1]) / 2)
    packed = codes[..., 0::2] | codes[..., 1::2] << 4
    return packed.to(torch.uint8), absmax
