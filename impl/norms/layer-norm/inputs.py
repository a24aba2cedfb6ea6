"""Tokens of every rank and width, gains and shifts, eps that matters, means that dwarf the spread."""

from __future__ import annotations

import torch

AXES = {"x": "... D", "gamma": "D", "beta": "D", "return": "... D"}
SIZES = {"D": (1, 9, 192)}
OFFSET = 1e4  # mean 10⁴ against a spread of 1: E[x²] − E[x]² has no digit left in float32
TOLERANCE_STABLE = {"float32": 5e-3}


def affine(make, D):
    """Gains in 0.5 … 2 and shifts in −1 … 1, whatever the profile does to x."""
    gamma, beta = (torch.rand(D, generator=make.random, dtype=torch.float64) for _ in range(2))
    return make.keep(0.5 + 1.5 * gamma, grad=True), make.keep(2.0 * beta - 1.0, grad=True)


def case(make):
    x = make.argument("x", scale=make.pick([1.0, 3.0, 0.05]), mean=make.pick([0.0, 2.0]))
    make.call("layer_norm", x, *affine(make, make.size("D")), eps=make.pick([1e-5, 1e-2, 0.5, 1e-6]))


def stable(make):
    make.call("layer_norm", make.normal(make.size(1, 4), 60), *affine(make, 60))


def edge_constant_rows(make):
    """a constant row: eps keeps it finite, the result is the shift

    常数行：靠 ε 保持有限，输出就是 β
    """
    x = torch.tensor([[2.0, 2.0, 2.0, 2.0], [1.0, -1.0, 0.5, 0.25], [0.0, 0.0, 0.0, 0.0]])
    make.call("layer_norm", make.keep(x, grad=True), *affine(make, 4))


def edge_eps_against_the_spread(make):
    """eps from 10⁻⁸ to 1: inside the root, and used as given

    ε 从 10⁻⁸ 到 1：在根号里面，传多少用多少
    """
    for scale, eps in ((1e-3, 1e-5), (1e-3, 1e-8), (1.0, 1.0), (1.0, 0.1)):
        make.call("layer_norm", make.normal(3, 8, scale=scale), *affine(make, 8), eps)


def edge_rows_far_apart(make):
    """rows around 10⁴, −10⁴ and 0, one value at 13 standard deviations: each row by itself, nothing clipped

    各行在 10⁴、−10⁴ 和 0 附近，有一个值在 13 个标准差处：逐行统计，不截断
    """
    level = torch.tensor([[0.0], [1e4], [-1e4], [3.0]], dtype=torch.float64)
    make.call("layer_norm", make.keep(level + make.normal(4, 130, grad=False)), *affine(make, 130))
    x = make.normal(2, 192, grad=False)
    x[0, 150], x[1, 3] = 60.0, -60.0
    make.call("layer_norm", make.keep(x, grad=True), *affine(make, 192))


def edge_float16_squares_overflow(make):
    """float16 near 2·10⁴, whose squares do not fit; bfloat16 near 1000, whose mean does not

    float16 约 2·10⁴，平方放不下；bfloat16 约 1000，均值表示不了
    """
    for rows, dtype in (
        ([[20000.0, -20000.0, 19008.0, 1.0], [20000.0, 19984.0, 20016.0, 20032.0]], torch.float16),
        ([[1000.0, 1004.0, 1008.0, 996.0], [1000.0, 1000.0, 1004.0, 1000.0]], torch.bfloat16),
    ):
        tensors = torch.tensor(rows), torch.tensor([1.0, 0.5, 2.0, 1.5]), torch.tensor([0.0, 0.25, -1.0, 0.5])
        make.call("layer_norm", *[make.keep(t.to(dtype), dtype="fixed") for t in tensors])
