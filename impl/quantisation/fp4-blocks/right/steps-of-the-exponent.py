"""Rounds as floating point does: |y| in steps of ½, 1 or 2 by its exponent, ties to even by torch.round."""

import torch


def fp4(y):
    size = y.abs().clamp(max=6.0)
    step = torch.where(size < 2, 0.5, torch.where(size < 4, 1.0, 2.0))
    value = (size / step).round() * step
    index = torch.where(value < 2, 2 * value, torch.where(value < 4, value + 2, value / 2 + 4)).long()
    return index + 8 * torch.signbit(y).long()


def packed(blocks, scale):
    inverse = torch.where(scale == 0, torch.zeros_like(scale), scale)
    y = torch.where(inverse == 0, torch.zeros_like(blocks), blocks / inverse)
    codes = fp4(y).flatten(-2)
    return codes[..., 0::2].bitwise_or(codes[..., 1::2].bitwise_left_shift(4)).to(torch.uint8)


def quantize_nvfp4(x):
    wide = x if x.dtype == torch.float64 else x.float()
    rows = wide.reshape(*x.shape[:-1], x.shape[-1] // 16, 16)
    maxima = torch.maximum(rows.amax(-1), -rows.amin(-1))
    g = maxima.max() / 2688
    ratio = maxima / g / 6 if float(g) > 0 else torch.zeros_like(maxima)
    s = ratio.clamp(0, 448).to(torch.float8_e4m3fn)
    return packed(rows, (s.to(wide.dtype) * g)[..., None]), s, g.to(torch.float32)


def quantize_mxfp4(x):
    wide = x if x.dtype == torch.float64 else x.float()
    rows = wide.reshape(*x.shape[:-1], x.shape[-1] // 32, 32)
    maxima = torch.maximum(rows.amax(-1), -rows.amin(-1)).to(torch.float32)
    stored = ((maxima.view(torch.int32) >> 23) - 2).clamp(min=0)
    scale = torch.ldexp(torch.ones_like(maxima, dtype=wide.dtype), stored - 127)
    return packed(rows, scale[..., None]), stored.to(torch.uint8)
