"""Weights of every rank in blocks; bytes are unpacked and every code must be the nearest level."""

from __future__ import annotations

import torch

AXES = {"w": "... I", "return[0]": "... P", "return[1]": "... N"}
SIZES = {"P": (1, 6, 96)}
DERIVED = {"I": "2 * P"}
GRADIENTS = False
SIXTEEN_BITS = "technique"  # `hardened` says it: absmax stays in float32
_LEVELS = torch.tensor(
    [
        *(-1.0, -0.6961928010, -0.5250730515, -0.3949174881, -0.2844413817, -0.1847734302, -0.0910500363, 0.0),
        *(0.0795802996, 0.1609302014, 0.2461123019, 0.3379152417, 0.4407098293, 0.5626170039, 0.7229568362, 1.0),
    ],
    dtype=torch.float64,
)
_ROUNDED = 2e-4  # levels of four digits move a midpoint by half of that


def case(make):
    w = make.argument("w", scale=make.pick([1.0, 0.02, 40.0]))
    block = make.pick([d for d in range(w.shape[-1], 0, -1) if w.shape[-1] % d == 0])
    coded(make, w, block)


def coded(make, w, *block):
    make.judge(faithful(w.detach(), *block), make.call("nf4_quantize", w, *block))


def faithful(w, block=64):
    """Return a check of the bytes and the absmax of `w`."""
    x = w.double().unflatten(-1, (-1, block))
    largest = x.abs().amax(-1)
    normal = (x / torch.where(largest == 0, 1.0, largest)[..., None]).flatten(-2)

    def holds(result):
        packed, absmax = result
        yield first(~((absmax - largest).abs() <= 1e-6 * largest), "absmax", absmax, largest)
        codes = torch.stack([packed & 0xF, packed >> 4], dim=-1).flatten(-2).long()
        distance = (normal[..., None] - _LEVELS).abs()  # (..., I, 16)
        mine = distance.gather(-1, codes[..., None])[..., 0]
        wrong = (mine > distance.amin(-1) + _ROUNDED) | (w == 0) & (codes != 7)
        yield first(wrong, "w/absmax", _LEVELS[codes], normal)

    return holds


def first(wrong, name, got, due):
    if not bool(wrong.any()):
        return None
    at = tuple(wrong.nonzero()[0].tolist())
    mine, other = float(got[at]), float(due[at])
    return (
        f"decoded, {name}{list(at)} is {mine:.6g}; it was {other:.6g}, and that is not the nearest level",
        f"解码之后 {name}{list(at)} 为 {mine:.6g}；原值 {other:.6g}，这不是最近的档位",
    )


def edge_zeros(make):
    """blocks of zeros have absmax 0 and codes 7; zeros among numbers have code 7 too

    全零的块：absmax 为 0，编码为 7；数里夹的 0 编码也是 7
    """
    rows = torch.zeros(3, 8)
    rows[1, 4:], rows[2, 3] = torch.tensor([1.0, -7.0, 0.0, 3.0]), -2.0
    for block in (4, 8, 2):
        coded(make, make.keep(rows), block)


def edge_beside_every_midpoint(make):
    """numbers close to every midpoint between two levels, on both sides, and every level itself

    每两档的中点两侧，以及每一档本身
    """
    middle = (_LEVELS[1:] + _LEVELS[:-1]) / 2
    row = torch.cat([_LEVELS, middle - 2e-3, middle + 2e-3])  # its absmax is 1
    coded(make, make.keep(torch.stack([row, 3.0 * row, -0.02 * row])), 46)


def edge_blocks_far_apart(make):
    """constant blocks, and an outlier at −50 standard deviations: each block has its own absmax

    常数块，以及一个 −50 倍标准差的离群值：每块各有自己的 absmax
    """
    w = make.normal(3, 24, grad=False)
    w[0, 7], w[1], w[2] = -50.0, -1e-3, w[2] * torch.tensor([1e3, 1.0, 1e-3, 30.0]).repeat_interleave(6)
    for block in (3, 6, 24, 1):
        coded(make, make.keep(w), block)


def edge_blocks_of_small_numbers(make):
    """blocks of about 10⁻⁵ and 10⁻⁸ beside ordinary ones: each is scaled to 1

    大小约 10⁻⁵、10⁻⁸ 的块与普通的块并列：每块都缩放到 1
    """
    w = make.normal(3, 8, grad=False) * torch.tensor([[1e-5], [1e-8], [1.0]])
    for block in (8, 4):
        coded(make, make.keep(w), block)


def edge_blocks_of_64(make):
    """default block: 64 neighbours along the last dimension

    不传 block：沿最后一维每 64 个一块
    """
    coded(make, make.normal(64, 192, scale=0.05))
    coded(make, make.normal(128))
