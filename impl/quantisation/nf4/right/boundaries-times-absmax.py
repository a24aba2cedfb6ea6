"""Leaves the weights alone and counts the boundaries, multiplied by absmax, below each."""

import torch


def quantiles(count):
    return torch.special.ndtri(torch.linspace(0.9677083, 0.5, count + 1, dtype=torch.float64)[:count])


def nf4_quantize(w, block=64):
    up, down = quantiles(8), quantiles(7)
    table = torch.cat([-down, torch.zeros(1), up.flip(0)]) / up[0]
    middles = table.unfold(0, 2, 1).mean(dim=1).to(w.device)
    blocks = w.double().unflatten(-1, (w.shape[-1] // block, block))
    absmax = blocks.abs().max(dim=-1, keepdim=True).values
    codes = torch.zeros_like(blocks, dtype=torch.int32)
    for middle in middles:
        codes += blocks > middle * absmax
    codes = codes.masked_fill(absmax == 0, 7).flatten(-2).unflatten(-1, (-1, 2))
    packed = torch.bitwise_or(codes[..., 0], torch.bitwise_left_shift(codes[..., 1], 4)).to(torch.uint8)
    return packed, absmax.squeeze(-1).to(torch.promote_types(w.dtype, torch.float32))
