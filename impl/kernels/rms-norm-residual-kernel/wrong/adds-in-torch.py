"""Adds the residual in torch and normalises in the kernel.
残差在 torch 里加，kernel 只做归一化。

symptom: Right values, but h goes through memory once more.
症状：值都对，但 h 多过了一遍显存。

cards: flash-12
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(h_ptr, weight_ptr, y_ptr, D, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0) * D
    at = tl.arange(0, BLOCK)
    mask = at < D
    h = tl.load(h_ptr + start + at, mask=mask, other=0.0).to(tl.float32)
    inverse = tl.rsqrt(tl.sum(h * h, 0) / D + eps)
    weight = tl.load(weight_ptr + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + start + at, h * inverse * weight, mask=mask)


def rms_norm_residual(x, residual, weight, eps=1e-6):
    h, weight = (x + residual).contiguous(), weight.contiguous()
    y = torch.empty_like(h)
    D = h.shape[-1]
    rows_kernel[(h.numel() // D,)](h, weight, y, D, eps, BLOCK=triton.next_power_of_2(D))
    return y, h
