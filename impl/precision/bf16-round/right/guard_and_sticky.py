"""As in hardware: guard bit, sticky bit and last kept bit decide, for both formats."""
import torch


def nearest_even(number, dropped):
    kept = number >> dropped
    guard = (number >> (dropped - 1)) & 1
    sticky = (number & ((torch.ones_like(number) << (dropped - 1)) - 1)) != 0
    return kept + ((guard == 1) & (sticky | (kept & 1 == 1))).to(number.dtype)


def round_to_bf16(x: torch.Tensor) -> torch.Tensor:
    bits = x.view(torch.int32).to(torch.int64) & 0xFFFFFFFF
    top = nearest_even(bits & 0x7FFFFFFF, torch.full_like(bits, 16)) << 16
    top = torch.where((bits & 0x7FFFFFFF) > 0x7F800000, bits & 0x7FFFFFFF, top)
    y = top | (bits & 0x80000000)
    return torch.where(y >= 2**31, y - 2**32, y).to(torch.int32).view(torch.float32)


def round_to_fp16(x: torch.Tensor) -> torch.Tensor:
    bits = x.view(torch.int32).to(torch.int64)
    size = bits & 0x7FFFFFFF
    exponent = size >> 23
    lost = (126 - exponent).clamp(13, 30)
    mantissa = torch.where(exponent == 0, 0, (size & 0x7FFFFF) | 0x800000)
    half = nearest_even(mantissa, lost)  # in units of 2^(exponent - 150 + lost)
    scale = torch.ldexp(torch.ones_like(half, dtype=torch.float64), exponent - 150 + lost)
    y = half.double() * scale
    y[y > 65504.0] = float("inf")
    y = torch.where(bits < 0, -y, y).float()
    return torch.where(x.isnan(), x, y)
