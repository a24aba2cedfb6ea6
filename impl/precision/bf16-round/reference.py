"""Rounding float32 to bfloat16 and to float16 by hand, on the bits, and returning the rounded values as float32.

A float32 is sign (1 bit), exponent (8), mantissa (23). Rounding drops low bits of the mantissa. Decisions:
- nearest, ties to even: up when the dropped part is more than half, or exactly half and the last kept bit is 1;
- the carry of a round-up runs through the mantissa into the exponent by itself, at the top into infinity;
- bfloat16 has the exponent of float32, so its subnormals need no care; float16 below 2⁻¹⁴ has a fixed step of 2⁻²⁴,
  so one more bit is dropped for each power of two below;
- sign and magnitude are treated apart: −0 stays −0, −1e-30 becomes −0;
- a NaN must not be rounded: the carry would turn it into infinity, or past it.

IEEE 754-2019, §4.3.1; Kalamkar et al. 2019, arXiv 1905.12322.
"""

from __future__ import annotations

import torch
from torch import Tensor

SIGN = -(2**31)  # the top bit as an int32
INFINITY = 0x7F800000


def split(x: Tensor) -> tuple[Tensor, Tensor]:
    bits = x.view(torch.int32)  # the shape of x
    return bits & SIGN, bits & ~SIGN  # sign bit, magnitude


def rounded(number: Tensor, dropped: Tensor | int) -> Tensor:
    """`number` without its lowest `dropped` bits, to nearest, ties to even; still in place."""
    last_kept = (number >> dropped) & 1
    just_below_half = (1 << (dropped - 1)) - 1
    return ((number + just_below_half + last_kept) >> dropped) << dropped


def joined(x: Tensor, sign: Tensor, magnitude: Tensor) -> Tensor:
    y = (sign | magnitude).view(torch.float32)  # the shape of x
    return torch.where(x.isnan(), x, y)


def round_to_bf16(x: Tensor) -> Tensor:
    sign, magnitude = split(x)
    return joined(x, sign, rounded(magnitude.clamp(max=INFINITY), 16))


def round_to_fp16(x: Tensor) -> Tensor:
    sign, magnitude = split(x)
    exponent = magnitude >> 23  # biased by 127; 2⁻¹⁴ has 113

    normal = rounded(magnitude.clamp(max=INFINITY), 13)
    normal = normal.masked_fill(normal >= 0x47800000, INFINITY)  # 65536 and more

    mantissa = (magnitude & 0x7FFFFF) | 0x800000  # with its leading 1, for float16's subnormals
    dropped = (13 + 113 - exponent).clamp(14, 25)
    steps = rounded(mantissa, dropped) >> dropped  # how many times 2⁻²⁴, at most 1024
    subnormal = (steps.to(torch.float32) * 2.0**-24).view(torch.int32)

    return joined(x, sign, torch.where(exponent < 113, subnormal, normal))
