"""Takes g = max/6, so that the largest block scale is 1.
g 取 max/6，最大的块缩放是 1。

symptom: Blocks 1,024 times smaller than the largest have scale 0.
症状：最大值小到最大块的 1/1024 的块，缩放变成 0。

cards: prec-19
rung: solved
"""

import torch

MIDDLE = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0]


def packed(y):
    middle = torch.tensor(MIDDLE, dtype=y.dtype, device=y.device)
    low, high = (torch.bucketize(y.abs(), middle, right=right) for right in (False, True))
    codes = torch.where(low % 2 == 0, low, high) + 8 * (y < 0)
    return (codes[..., 0::2] | codes[..., 1::2] << 4).to(torch.uint8)


def divided(blocks, scale):
    return torch.where(scale == 0, 0.0, blocks / scale).flatten(-2)


def quantize_nvfp4(x):
    x = x.to(torch.promote_types(x.dtype, torch.float32))
    blocks = x.unflatten(-1, (-1, 16))
    largest = blocks.abs().amax(dim=-1, keepdim=True)
    g = largest.max() / 6
    s = torch.where(g == 0, 0.0, largest / (6 * g)).clamp(max=448)
    scales = s.to(torch.float8_e4m3fn)
    codes = packed(divided(blocks, scales.to(x.dtype) * g))
    return codes, scales.squeeze(-1), g.to(torch.float32)


def quantize_mxfp4(x):
    x = x.to(torch.promote_types(x.dtype, torch.float32))
    blocks = x.unflatten(-1, (-1, 32))
    largest = blocks.abs().amax(dim=-1, keepdim=True)
    e = torch.frexp(largest).exponent - 3
    codes = packed(divided(blocks, torch.ldexp(torch.ones_like(largest), e)))
    return codes, (e + 127).to(torch.uint8).squeeze(-1)
