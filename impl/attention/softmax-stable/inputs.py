"""Slices of every rank and dimension, −inf among them, up to |x| = 1e4."""

from __future__ import annotations

import torch

SIZES = {"m": (1, 5), "n": (1, 7, 130)}
LEAD = (0, 2)
PROFILES = {"stable": ["ordinary", "float64"]}
HARDENED = {"edge_nothing_but_minus_infinity"}
_GONE = float("-inf")


def case(make):
    shape = (*make.lead(), *make.sizes("m", "n"))
    shape = make.pick([shape, shape, shape[-1:]])
    dim = make.pick([-1, *range(-len(shape), len(shape))])
    x = make.normal(*shape, scale=make.pick([1.0, 4.0]))
    if make.flag():
        x = make.keep(x.masked_fill(hidden(make, shape, dim), _GONE), grad=True)
    make.call("softmax", x, dim=dim)


def hidden(make, shape, dim):
    """A mask of the entries that become −inf: some of each slice along `dim`."""
    moved = [*shape]
    moved.append(moved.pop(dim))
    visible = make.mask(*moved, keep=0.6)
    visible[..., -1] = True
    return ~visible.movedim(-1, dim)


def both_ways(make, rows):
    """Slices as rows, and as columns."""
    x = torch.as_tensor(rows)
    make.call("softmax", make.keep(x, grad=True))
    make.call("softmax", make.keep(x.t().contiguous(), grad=True), 0)


def stable(make):
    """Logits up to ±1e4: slices far from zero, far from each other, and single spikes."""
    m, n = make.size(2, 5), make.size(1, 7)
    level = make.pick([1e4, -1e4, 200.0, -200.0, 90.0])
    x = torch.full((m, n), level * 0.999, dtype=torch.float64)
    x[0] *= -1
    x += make.normal(m, n, grad=False).double().clamp(-5.0, 5.0)
    if make.flag():
        x[-1, 0] = level
    make.call("softmax", make.keep(x, grad=True), make.pick([-1, 0, 1]))


def edge_far_apart(make):
    """±1e4 in one slice, and in neighbours: one maximum for all does not help; probabilities near 1e-8 and 1e-30

    ±1e4 在同一个切片里，或在相邻的两个里：只减一个最大值没有用；还有 1e-8、1e-30 左右的概率
    """
    both_ways(make, [[1e4, 0.0, -1e4], [-1e4, -1e4, -1e4], [9999.0, 1e4, 9998.5], [-1e4, -9999.0, -9999.5]])
    both_ways(make, [[0.0, -18.5, -40.0, -69.0], [0.0, -1.0, -80.0, -85.0], [-9998.0, -9999.0, -1e4, -9930.0]])


def edge_minus_infinity(make):
    """−inf gets exactly 0, in any position

    −inf 恰好得 0，不管在哪个位置
    """
    some = [[0.5, _GONE, 1.25, _GONE], [_GONE, _GONE, _GONE, -3.0], [_GONE, 2, 2, 1e4], [-1e4, _GONE, -9999.5, _GONE]]
    both_ways(make, some)


def edge_nothing_but_minus_infinity(make):
    """a slice of nothing but −inf gives zeros and a zero gradient, its neighbours stay right

    全是 −inf 的切片输出全 0、梯度为 0，旁边的切片照样要对
    """
    for rows in ([[_GONE] * 3, [0.0, 1.0, _GONE], [_GONE] * 3, [-2.0, 0.5, 0.25]], [[_GONE], [0.5]]):
        both_ways(make, rows)
    make.call("softmax", make.keep(torch.full((3,), _GONE), grad=True))


def edge_every_dimension(make):
    """every dimension of five, from either end

    五维张量的每一维，倒着数、正着数
    """
    for dim in range(-5, 5):
        make.call("softmax", make.normal(2, 3, 1, 4, 2), dim)


def edge_long_slices(make):
    """130 entries, the largest by far in the second half, some −inf

    130 个元素，最大值在后半段且遥遥领先，有些是 −inf
    """
    x = make.normal(3, 130).masked_fill(~make.mask(3, 130, keep=0.8), _GONE)
    x[:, 100] = 150.0
    x[1, 129] = 151.0
    both_ways(make, x)


def edge_sixteen_bits(make):
    """16 bits: a spread and a sum that float16 cannot hold

    16 位：logits 的跨度、指数之和都超出 float16 的范围
    """
    rows = torch.tensor([[8.0, -3.03125, 7.9375, 5.28125, 7.0625], [300.0, 299.0, 301.0, 298.0, 200.0]]).bfloat16()
    apart = torch.tensor([[60000.0, -60000.0, 59968.0], [9.0, -2.5078125, 8.0078125]]).half()
    for x in (rows, torch.linspace(-4.0, 4.0, 301).bfloat16(), apart, torch.zeros(66_000).half()):
        make.call("softmax", make.keep(x, dtype="fixed"))
