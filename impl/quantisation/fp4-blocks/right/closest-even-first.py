"""Distances to the levels in an order in which even indices win ties; exponents from the bits."""

import torch

ORDER = [0, 2, 4, 6, 1, 3, 5, 7]
LEVELS = [0.0, 1.0, 2.0, 4.0, 0.5, 1.5, 3.0, 6.0]


def encode(blocks, scale):
    y = torch.where(scale > 0, blocks.double() / scale.double(), torch.zeros_like(blocks, dtype=torch.float64))
    levels = torch.tensor(LEVELS, dtype=y.dtype, device=y.device)
    order = torch.tensor(ORDER, device=y.device)
    index = order[(y.abs().unsqueeze(-1) - levels).abs().argmin(dim=-1)]
    pairs = (index + 8 * (y < 0)).flatten(-2).unflatten(-1, (-1, 2))
    return (pairs[..., 0] + 16 * pairs[..., 1]).to(torch.uint8)


def quantize_nvfp4(x):
    blocks = x.float().unflatten(-1, (-1, 16)) if x.dtype != torch.float64 else x.unflatten(-1, (-1, 16))
    largest = torch.linalg.vector_norm(blocks, ord=float("inf"), dim=-1)
    g = (x.abs().max().double() / 2688).to(torch.float32)
    divisor = torch.where(g > 0, 6 * g, torch.ones_like(g))
    scales = torch.minimum(largest / divisor, torch.full_like(largest, 448.0)).to(torch.float8_e4m3fn)
    return encode(blocks, (scales.double() * g.double()).unsqueeze(-1)), scales, g


def quantize_mxfp4(x):
    blocks = x.unflatten(-1, (-1, 32))
    largest = blocks.abs().amax(dim=-1)
    _, exponent = torch.frexp(largest.double())
    exponents = (exponent + 124).to(torch.uint8)
    scale = torch.exp2((exponent - 3).double()).unsqueeze(-1)
    return encode(blocks, scale), exponents
