"""Takes 16 symmetric quantiles, of which none is 0.
取了 16 个对称的分位数，没有 0。

symptom: Zeros come back as ±0.04 of the block's maximum.
症状：0 还原成块最大值的 ±0.04。

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
    q = torch.special.ndtri(torch.linspace(1 - 0.9677083, 0.9677083, 16, dtype=torch.float64))
    table = (q / q[-1]).to(device=w.device, dtype=x.dtype)
    blocks = x.unflatten(-1, (-1, block))
    absmax = blocks.abs().amax(dim=-1)
    divisor = torch.where(absmax == 0, torch.ones_like(absmax), absmax)
    normal = (blocks / divisor[..., None]).flatten(-2)
    codes = torch.bucketize(normal, (table[1:] + table[:-1]) / 2)
    packed = codes[..., 0::2] | codes[..., 1::2] << 4
    return packed.to(torch.uint8), absmax
