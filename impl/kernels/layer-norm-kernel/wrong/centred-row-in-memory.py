"""Stores the centred row with one kernel, and normalises it with a second.
第一个 kernel 写出减过均值的行，第二个再读回来归一化。

symptom: Right values, but the row goes through memory several times more.
症状：值都对，但整行多过了几遍显存。

cards: flash-12
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def centre_kernel(x_ptr, centred_ptr, D, BLOCK: tl.constexpr):
    start = tl.program_id(0) * D
    lane = tl.arange(0, BLOCK)
    total = 0.0
    for first in range(0, D, BLOCK):
        at = first + lane
        total += tl.sum(tl.load(x_ptr + start + at, mask=at < D, other=0.0).to(tl.float32), 0)
    for first in range(0, D, BLOCK):
        at = first + lane
        x = tl.load(x_ptr + start + at, mask=at < D, other=0.0).to(tl.float32)
        tl.store(centred_ptr + start + at, x - total / D, mask=at < D)


@triton.jit
def scale_kernel(centred_ptr, weight_ptr, bias_ptr, y_ptr, D, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0) * D
    lane = tl.arange(0, BLOCK)
    square = 0.0
    for first in range(0, D, BLOCK):
        at = first + lane
        centred = tl.load(centred_ptr + start + at, mask=at < D, other=0.0)
        square += tl.sum(centred * centred, 0)
    inverse = 1.0 / tl.sqrt(square / D + eps)
    for first in range(0, D, BLOCK):
        at = first + lane
        centred = tl.load(centred_ptr + start + at, mask=at < D, other=0.0)
        weight = tl.load(weight_ptr + at, mask=at < D, other=0.0).to(tl.float32)
        bias = tl.load(bias_ptr + at, mask=at < D, other=0.0).to(tl.float32)
        tl.store(y_ptr + start + at, centred * inverse * weight + bias, mask=at < D)


def layer_norm(x, weight, bias, eps=1e-5):
    x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
    y = torch.empty_like(x)
    D = x.shape[-1]
    centred = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    centre_kernel[(x.numel() // D,)](x, centred, D, BLOCK=512)
    scale_kernel[(x.numel() // D,)](centred, weight, bias, y, D, eps, BLOCK=512)
    return y
