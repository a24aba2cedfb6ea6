"""Loads whole blocks without a mask.
读整块，没有加 mask。

symptom: A row takes in its successor's entries; the last one reads beyond the tensors.
症状：一行把下一行的元素也算了进去；最后一行越界读取。

cards: flash-01
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
    x = tl.load(x_ptr + start + at).to(tl.float32)
    mean = tl.sum(x, 0) / D
    centred = tl.where(mask, x - mean, 0.0)
    inverse = 1.0 / tl.sqrt(tl.sum(centred * centred, 0) / D + eps)
    weight = tl.load(weight_ptr + at).to(tl.float32)
    bias = tl.load(bias_ptr + at).to(tl.float32)
    tl.store(y_ptr + start + at, centred * inverse * weight + bias, mask=mask)


def layer_norm(x, weight, bias, eps=1e-5):
    x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
    y = torch.empty_like(x)
    D = x.shape[-1]
    rows_kernel[(x.numel() // D,)](x, weight, bias, y, D, eps, BLOCK=triton.next_power_of_2(D))
    return y
