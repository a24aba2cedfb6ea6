"""Adds and takes away 1.5·2^52 steps in float64, whose own rounding does the work."""
import torch
from torch import Tensor


def magic(x: Tensor, kept: int, lowest: int) -> Tensor:
    wide = x.to(torch.float64)
    exponent = ((wide.view(torch.int64) >> 52) & 0x7FF) - 1023
    step = torch.clamp(exponent - kept, min=lowest)
    big = ((step + 52 + 1023) << 52 | (1 << 51)).view(torch.float64)
    return (wide + big) - big


def finished(x: Tensor, y: Tensor, too_large: float) -> Tensor:
    y = y.abs()
    y = y.masked_fill(y >= too_large, float("inf"))
    y = torch.where(x < 0, -y, y)
    y = torch.where(x == 0, x.double(), y).to(torch.float32)
    y = torch.where((y == 0) & (x < 0), -torch.zeros_like(y), y)
    return torch.where(torch.isfinite(x), y, x)


def round_to_bf16(x: Tensor) -> Tensor:
    return finished(x, magic(x, 7, -133), 2.0**128)


def round_to_fp16(x: Tensor) -> Tensor:
    return finished(x, magic(x, 10, -24), 65536.0)
