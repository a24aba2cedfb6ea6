"""Tokens of every rank and width, any gradient at the output, eps that matters, means that dwarf the spread."""

from __future__ import annotations

import torch

AXES = {
    **dict.fromkeys(("dy", "x", "return[0]"), "... D"),
    **dict.fromkeys(("gamma", "return[1]", "return[2]"), "D"),
}
SIZES = {"D": (1, 9, 192)}
GRADIENTS = False
OFFSET = 1e4  # mean 10⁴ against a spread of 1: E[x²] − E[x]² has no digit left in float32
# With two features shift and stretch are everything: dx is what ε leaves of a difference of equal numbers.
TOLERANCE = {"float64": 1e-10, "float32": 1e-4, "float16": 1e-4, "bfloat16": 1e-4}
TOLERANCE_STABLE = {"float32": 5e-3}


def plain(make, *shape):
    """Normal values, independent of the profile of x."""
    return make.keep(torch.randn(shape, generator=make.random, dtype=torch.float64))


def case(make):
    x = make.argument("x", scale=make.pick([1.0, 3.0, 0.05]), mean=make.pick([0.0, 2.0]))
    eps = make.pick([1e-5, 1e-2, 0.5, 1e-6])
    make.call("layer_norm_backward", make.argument("dy"), x, make.argument("gamma", mean=0.5), eps=eps)


def stable(make):
    rows = make.size(1, 4)
    make.call("layer_norm_backward", plain(make, rows, 60), make.normal(rows, 60), plain(make, 60))


def edge_constant_rows(make):
    """constant rows: eps keeps dx finite; D = 1: dx is 0

    常数行：靠 ε 保持 dx 有限；D = 1 时 dx 为 0
    """
    x = torch.tensor([[2.0, 2.0, 2.0, 2.0], [1.0, -1.0, 0.5, 0.25], [0.0, 0.0, 0.0, 0.0]])
    make.call("layer_norm_backward", make.normal(3, 4), make.keep(x), make.normal(4))
    make.call("layer_norm_backward", make.normal(3, 1), make.normal(3, 1), make.normal(1))


def edge_what_drops_out(make):
    """dy is constant, or x itself: with γ = 1 the first gives dx = 0, the second almost 0

    dy 是常数，或就是 x 本身：γ = 1 时前者的 dx 为 0，后者几乎为 0
    """
    x, one = make.normal(2, 3, 8), make.keep(torch.ones(8))
    for dy in (make.keep(torch.full((2, 3, 8), 3.0)), x):
        make.call("layer_norm_backward", dy, x, one)
        make.call("layer_norm_backward", dy, x, make.normal(8))


def edge_eps_against_the_spread(make):
    """eps from 10⁻⁸ to 1: inside the root, and used as given

    ε 从 10⁻⁸ 到 1：在根号里面，传多少用多少
    """
    for scale, eps in ((1e-3, 1e-5), (1e-3, 1e-8), (1.0, 1.0), (1.0, 0.1)):
        make.call("layer_norm_backward", make.normal(3, 8), make.normal(3, 8, scale=scale), make.normal(8), eps)


def edge_float16_squares_overflow(make):
    """float16 near 2·10⁴, whose squares do not fit

    float16 约 2·10⁴，平方放不下
    """
    x = torch.tensor([[20000.0, -20000.0, 19008.0, 1.0], [20000.0, 19984.0, 20016.0, 20032.0]])
    dy = torch.tensor([[1.0, -0.5, 0.25, 2.0], [0.5, 1.0, -1.0, 3.0]])
    gamma = torch.tensor([1.0, 0.5, 2.0, 1.5])
    make.call("layer_norm_backward", *(make.keep(t.half(), dtype="fixed") for t in (dy, x, gamma)))
