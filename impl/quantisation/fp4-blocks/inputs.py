"""Tensors of both formats over many orders of magnitude; codes are judged by the scales that come with them."""

from __future__ import annotations

import torch

AXES = {
    "quantize_nvfp4.x": "... I",
    "quantize_nvfp4.return[0]": "... P",
    "quantize_nvfp4.return[1]": "... n",
    "quantize_mxfp4.x": "... J",
    "quantize_mxfp4.return[0]": "... I",
    "quantize_mxfp4.return[1]": "... n",
}
SIZES = {"n": (1, 3, 20)}
DERIVED = {"I": "16 * n", "J": "32 * n", "P": "8 * n"}
GRADIENTS = False
SIXTEEN_BITS = "technique"  # `hardened` says it: scales are found in float32
HARDENED = {"edge_just_below_a_power_of_two"}
_LEVELS = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0], dtype=torch.float64)


def case(make):
    """Rows whose blocks differ in size, in both formats."""
    scale = make.pick([1.0, 1e-3, 1e3, 0.05])
    for name in ("quantize_nvfp4", "quantize_mxfp4"):
        shape = make.shape(f"{name}.x")
        sizes = torch.tensor([1.0, 9.0, 0.1, 3.0]).repeat(shape[-1] // 4).sort().values if make.flag() else 1.0
        x = make.normal(*shape, scale=scale, grad=False)
        quantised(make, name, make.keep(x * sizes))


def quantised(make, name, x, exact=False):
    codes = make.call(name, x)
    make.judge((nvfp4 if name == "quantize_nvfp4" else mxfp4)(x.detach().double(), exact), codes)


def nvfp4(x, exact):
    blocks, top = x.unflatten(-1, (-1, 16)), x.abs().max() / (6 * 448)

    def holds(result):
        codes, scales, g = result
        s, g = scales.double(), g.double()
        yield first((top > 0) & ~((g - top).abs() <= 1e-6 * top), "g", g, top)
        due = blocks.abs().amax(-1) / (6 * g) if top else torch.zeros_like(s)
        near = due.clamp(max=448).to(torch.float8_e4m3fn).double()
        worse = ~((s - due).abs() <= (near - due).abs() + 1e-5 * due)
        yield first(worse & (due < 448.01) & (top > 0), "scales", s, near)
        yield nearest(codes, x, (s * g)[..., None].expand(blocks.shape).flatten(-2), exact)

    return holds


def mxfp4(x, exact):
    blocks = x.unflatten(-1, (-1, 32))
    largest = blocks.abs().amax(-1)
    due = torch.frexp(largest).exponent.double() - 3 + 127

    def holds(result):
        codes, exponents = result
        yield first((exponents != due) & (largest > 0), "exponents", exponents, due)
        scale = torch.exp2(exponents.double() - 127)[..., None].expand(blocks.shape).flatten(-2)
        yield nearest(codes, x, scale, True)  # dividing by a power of two is exact, so ties are

    return holds


def nearest(packed, x, scale, exact):
    """Each code stands for the level nearest to x/scale; a scale of 0 stands for 0."""
    codes = torch.stack([packed & 0xF, packed >> 4], dim=-1).flatten(-2).long()
    got = _LEVELS[codes % 8] * torch.where(codes >= 8, -1.0, 1.0)
    y = (x / torch.where(scale == 0, 1.0, scale)).clamp(-6.0, 6.0)
    distance = (y.abs()[..., None] - _LEVELS).abs()
    lower = distance.argmin(-1)  # of two equal ones the first
    tied = distance.gather(-1, (lower + 1).clamp(max=7)[..., None])[..., 0] == distance.amin(-1)
    due = _LEVELS[lower + (tied & (lower < 7) & (lower % 2 == 1))].copysign(y)
    close = torch.zeros_like(tied) if exact else (got - y).abs() <= distance.amin(-1) + 1e-5
    wrong = ~scale.isfinite() | (got != due) & ~close & (scale != 0)
    return first(
        wrong,
        "x/scale",
        got,
        y,
        (
            "{} of {} is coded as {}, which is not the nearest level (ties: the even index)",
            "{} 为 {}，编成了 {}，不是最近的档位",
        ),
    )


_DUE = "{0} is {2}, expected {1}", "{} 应为 {}，得到 {}"


def first(wrong, name, got, due, says=_DUE):
    if not bool(wrong.any()):
        return None
    at = tuple(wrong.nonzero()[0].tolist())
    parts = f"{name}{list(at)}", f"{float(due[at]):.6g}", f"{float(got[at]):.6g}"
    return tuple(text.format(*parts) for text in says)


def edge_ties_and_saturation(make):
    """exact midpoints go to the even index, up to 8 is cut to 6; scales are powers of two

    恰好在中点的取偶数下标，6 到 8 截断到 6；scale 都是 2 的幂
    """
    row = torch.tensor([6.0, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, -0.25, -0.75, -1.25, -1.75, -2.5, -3.5, -5.0, 0.0])
    beyond = torch.tensor([7.5, 6.5, 7.0, -7.99, -6.0, 5.0, 1.3, -0.2]).repeat(2)
    for size in (448.0, 3.5, 448 * 2.0**-30):  # s = 448, and g a power of two
        quantised(make, "quantize_nvfp4", make.keep(size * row), exact=True)
    for size in (1.0, 2.0**30, 2.0**-40):
        quantised(make, "quantize_mxfp4", make.keep(size * torch.cat([row, row.flip(0)])))
        quantised(make, "quantize_mxfp4", make.keep(size * torch.cat([row, beyond])))


def edge_zeros(make):
    """a tensor of zeros, a block of zeros, and one so small that its scale becomes 0

    全零张量、全零的块，以及小到 scale 变成 0 的块
    """
    for name in ("quantize_nvfp4", "quantize_mxfp4"):
        rows = torch.zeros(3, 64)
        quantised(make, name, make.keep(rows))
        rows[1, :32], rows[2, 32:], rows[2, 3] = 1e-6, 5.0, -1e-20
        quantised(make, name, make.keep(rows))


def edge_large_and_small(make):
    """maxima from 10⁻³⁰ to 10³⁰

    最大值从 10⁻³⁰ 到 10³⁰
    """
    for size in (1e5, 1e30, 1e-30, 1e-8):
        for name in ("quantize_nvfp4", "quantize_mxfp4"):
            quantised(make, name, make.keep(size * make.normal(2, 64, grad=False).clamp(-3, 3)))


def edge_just_below_a_power_of_two(make):
    """a maximum one bit below a power of two: log2 in float32 rounds up to it

    最大值只比 2 的幂小一个最低位：float32 的 log2 会进上去
    """
    for power in (8.0, 64.0, 2.0**-12):
        row = power * (1 - 2.0**-24) * torch.linspace(-1, 1, 32)
        quantised(make, "quantize_mxfp4", make.keep(row))
