"""Takes mean and variance in torch, and normalises in the kernel.
均值、方差在 torch 里求，kernel 只做归一化。

symptom: Right values, but part of the work is done outside of the kernel.
症状：值都对，但有一部分活不是 kernel 干的。

cards: flash-01
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x_ptr, mean_ptr, variance_ptr, weight_ptr, bias_ptr, y_ptr, D, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < D
    x = tl.load(x_ptr + row * D + at, mask=mask, other=0.0).to(tl.float32)
    inverse = 1.0 / tl.sqrt(tl.load(variance_ptr + row) + eps)
    weight = tl.load(weight_ptr + at, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + at, mask=mask, other=0.0).to(tl.float32)
    y = (x - tl.load(mean_ptr + row)) * inverse * weight + bias
    tl.store(y_ptr + row * D + at, y, mask=mask)


def layer_norm(x, weight, bias, eps=1e-5):
    x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
    y = torch.empty_like(x)
    D = x.shape[-1]
    variance, mean = torch.var_mean(x.float(), -1, correction=0)
    rows_kernel[(x.numel() // D,)](x, mean, variance, weight, bias, y, D, eps, BLOCK=triton.next_power_of_2(D))
    return y
