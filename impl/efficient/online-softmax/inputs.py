"""Rows cut into chunks of unequal widths, handed over as a list or as an iterator that can be read once."""

from __future__ import annotations

import torch

SIZES = {"c": (1, 5, 70), "n": (1, 4)}
LARGE = 3000.0
HARDENED = {"edge_chunks_of_minus_infinity", "edge_gradients_beside_minus_infinity"}
_INF = float("inf")


def stats(make, x, widths, once=True):
    """The chunks of x: a list, or an iterator over it."""
    chunks = make.new("torch.split_with_sizes_copy", x, list(widths), -1)
    if once:
        chunks = make.method(chunks, "__iter__")
        make.compare(chunks, False)
    make.call("online_softmax_stats", chunks)


def case(make):
    c, n = make.sizes("c", "n")
    widths = [c, *(c % (k + 1) + make.pick([1, 2]) for k in range(1, n))]
    if make.flag():
        make.call("online_softmax_stats", [make.normal(*make.lead(), width, scale=3.0) for width in widths])
    else:
        stats(make, make.normal(*make.lead(), sum(widths), scale=make.pick([1.0, 8.0])), widths)


def stable(make):
    widths = [make.pick([1, 3, 6]) for _ in range(make.size(1, 4))]
    stats(make, make.normal(make.size(1, 4), sum(widths)), widths)


def edge_each_chunk_leads(make):
    """each chunk leads the last by 50, falls short of it by 6, or all lie near −1000

    每一块比前一块高 50、低 6，或者全在 −1000 附近
    """
    place = torch.arange(12, dtype=torch.float64)
    for row in (50.0 * (place // 2), -6.0 * (place // 2), -1000.0 - 0.3 * place):
        rows = torch.stack([row, row + 0.25 * (place % 2), row.flip(0)])
        for widths in ([2] * 6, [1, 4, 2, 5], [12]):
            stats(make, make.keep(rows + 0.01 * place**0.5, grad=True), widths)


def edge_minus_infinity(make):
    """rows with −inf: some entries of each chunk, or a whole one that is not the first

    有 −inf 的行：每块里的个别元素，或不在开头的一整块
    """
    rows = torch.randn(3, 6, generator=make.random, dtype=torch.float64)
    rows[0, 2:], rows[1, ::2], rows[2, 5] = -_INF, -_INF, -_INF
    for widths in ([2, 3, 1], [2, 2, 2], [6]):
        stats(make, make.keep(rows), widths)


def edge_chunks_of_minus_infinity(make):
    """rows of which the first chunk or all is −inf: m = −inf, l = 0, and later chunks count as ever

    第一块或整行都是 −inf 的行：m = −inf，l = 0，后面的块照常计入
    """
    rows = minus_infinity(make)
    for widths in ([2, 3, 1], [1] * 6, [6]):
        stats(make, make.keep(rows), widths)


def minus_infinity(make):
    rows = torch.randn(5, 6, generator=make.random, dtype=torch.float64)
    rows[0], rows[1, :2], rows[2, 2:], rows[3, ::2] = -_INF, -_INF, -_INF, -_INF
    return rows


def edge_gradients_beside_minus_infinity(make):
    """gradients of rows of which whole chunks, but not all, are −inf: finite

    有整块 −inf、但不全是 −inf 的行：梯度要有限
    """
    for widths in ([2, 3, 1], [1] * 6):
        stats(make, make.keep(minus_infinity(make)[1:], grad=True), widths)


def edge_sums_in_16_bits(make):
    """bfloat16 and float16 over 600 and 4096 equal entries: added in 16 bits, late ones vanish

    bfloat16、float16，600 个和 4096 个相等的元素：用 16 位累加，后面的会加不进去
    """
    for dtype, count in ((torch.bfloat16, 600), (torch.float16, 4096)):
        x = torch.full((1, count), 1.5)
        for widths in ([8] * (count // 8), [count]):
            stats(make, make.keep(x.to(dtype), dtype="fixed"), widths)


def chunks_at(make, n):
    """More and more chunks of eight."""
    stats(make, make.normal(2, 8 * n), [8] * n)


CONTRACTS = [
    {
        "check": "memory",
        "measure": "largest",
        "case": chunks_at,
        "sizes": (4, 16, 48),
        "growth_at_most": 1.0,
        "bound": lambda n: n,  # joined chunks are 16 n
        "says": {"en": "the largest tensor grows with the number of chunks", "zh": "最大的张量随块数增长"},
    },
]
