"""Adds eps to the standard deviation.
ε 加在了标准差上。

symptom: Rows of a small spread, and constant ones.
症状：离散程度小的行和常数行出错。

cards: norm-03, norm-04
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x_ptr, weight_ptr, bias_ptr, y_ptr, D, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0) * D
    at = tl.arange(0, BLOCK)
    mask = at < D
    x = tl.load(x_ptr + start + at, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, 0) / D
    centred = tl.where(mask, x - mean, 0.0)
    inverse = 1.0 / (tl.sqrt(tl.sum(centred * centred, 0) / D) + eps)
    weight = tl.load(weight_ptr + at, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + start + at, centred * inverse * weight + bias, mask=mask)


def layer_norm(x, weight, bias, eps=1e-5):
    x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
    y = torch.empty_like(x)
    D = x.shape[-1]
    rows_kernel[(x.numel() // D,)](x, weight, bias, y, D, eps, BLOCK=triton.next_power_of_2(D))
    return y
