"""Takes mean and variance for averages over those of the blocks.
把各块的均值、方差直接平均，当成整行的。

symptom: Between the blocks' means there is variance too, and the last block is shorter.
症状：块与块均值之间的方差没有算进去，最后一块也更短。

cards: norm-03
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x_ptr, weight_ptr, bias_ptr, y_ptr, D, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0) * D
    lane = tl.arange(0, BLOCK)
    mean, variance = 0.0, 0.0
    for first in range(0, D, BLOCK):
        at = first + lane
        x = tl.load(x_ptr + start + at, mask=at < D, other=0.0).to(tl.float32)
        count = tl.minimum(D - first, BLOCK)
        level = tl.sum(x, 0) / count
        centred = tl.where(at < D, x - level, 0.0)
        mean += level * count / D
        variance += tl.sum(centred * centred, 0) / D
    inverse = 1.0 / tl.sqrt(variance + eps)
    for first in range(0, D, BLOCK):
        at = first + lane
        x = tl.load(x_ptr + start + at, mask=at < D, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + at, mask=at < D, other=0.0).to(tl.float32)
        bias = tl.load(bias_ptr + at, mask=at < D, other=0.0).to(tl.float32)
        tl.store(y_ptr + start + at, (x - mean) * inverse * weight + bias, mask=at < D)


def layer_norm(x, weight, bias, eps=1e-5):
    x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
    y = torch.empty_like(x)
    D = x.shape[-1]
    rows_kernel[(x.numel() // D,)](x, weight, bias, y, D, eps, BLOCK=256)
    return y
