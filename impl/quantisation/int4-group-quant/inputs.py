"""Weights in groups that divide a row, odd ones too; bytes are unpacked and must be within half a step."""

from __future__ import annotations

import torch

AXES = {"w": "O I", "return[0]": "O P", "return[1]": "O G"}
SIZES = {"O": (1, 5), "P": (1, 6, 120)}
DERIVED = {"I": "2 * P"}
GRADIENTS = False
SIXTEEN_BITS = "technique"  # `hardened` says it: scales stay in float32


def case(make):
    I = make.size("I")
    group = make.pick([d for d in range(I, 0, -1) if I % d == 0])
    coded(make, make.argument("w", scale=make.pick([1.0, 0.02, 40.0])), group)


def coded(make, w, group):
    make.judge(faithful(w.detach(), group), make.call("quantize_int4", w, group))


def faithful(w, group):
    """Return a check of the bytes and scales of `w`."""
    O, I = w.shape
    x = w.double().reshape(O, I // group, group)
    largest = x.abs().amax(-1)

    def holds(result):
        packed, scales = result
        yield first((largest > 0) & ~((scales - largest / 7).abs() <= 1e-5 * largest), "scales", scales, largest / 7)
        yield first(~scales.isfinite(), "scales", scales, largest / 7)
        q = torch.stack([packed & 0xF, packed >> 4], dim=-1).reshape(O, I).double()
        q = torch.where(q > 7, q - 16, q)  # two's complement
        yield first(q < -7, "codes", q, -torch.ones_like(q) * 7)
        back, step = (
            (q.reshape(x.shape) * scales.double()[..., None]).reshape(O, I),
            (largest / 7).repeat_interleave(group, 1),
        )
        yield first((back - w.double()).abs() > 0.501 * step, "w", back, w.double())
        yield first((w == 0) & (q != 0), "w", back, w.double())

    return holds


def first(wrong, name, got, due):
    if not bool(wrong.any()):
        return None
    at = tuple(wrong.nonzero()[0].tolist())
    mine, other = float(got[at]), float(due[at])
    return (
        f"decoded, {name}{list(at)} is {mine:.6g}, expected {other:.6g}",
        f"解码之后 {name}{list(at)} 为 {mine:.6g}，应为 {other:.6g}",
    )


def edge_does_not_divide(make):
    """an odd I, or one that is no multiple of the group: ValueError

    I 是奇数，或不是组大小的倍数：ValueError
    """
    for I, group in ((5, 5), (7, 1), (8, 3), (6, 4), (4, 8)):
        make.raises(ValueError, "quantize_int4", make.normal(2, I), group)


def edge_zeros(make):
    """groups of zeros among others: codes 0, a finite scale

    有的组全为零：编码是 0，scale 有限
    """
    rows = torch.zeros(3, 8)
    rows[1, 4:], rows[2, 3] = torch.tensor([1.0, -7.0, 0.0, 3.0]), -2.0
    for group in (4, 8, 2):
        coded(make, make.keep(rows), group)


def edge_every_code(make):
    """all codes from −7 to 7, negative ones below and above in a byte

    从 −7 到 7 的每个编码，负数在低半字节和高半字节都出现
    """
    codes = torch.arange(-7.0, 8.0)
    pairs = torch.cartesian_prod(codes, codes).reshape(15, 30)  # 7 or −7 in every row
    coded(make, make.keep(pairs), 30)
    coded(make, make.keep(0.3 * pairs), 30)


def edge_groups_far_apart(make):
    """constant groups, one outlier at −50 standard deviations, weights of 10⁻⁵: each group has its own scale

    常数组，一个 −50 倍标准差的离群值，10⁻⁵ 的权重：每组各有自己的 scale
    """
    w = make.normal(3, 24, grad=False)
    w[0, 7], w[1], w[2] = -50.0, 1e-3, w[2] * torch.tensor([1e3, 1.0, 1e-3, 30.0]).repeat_interleave(6)
    for group in (3, 6, 24, 1):
        coded(make, make.keep(w), group)
    coded(make, make.normal(2, 8, scale=1e-5, grad=False), 4)
