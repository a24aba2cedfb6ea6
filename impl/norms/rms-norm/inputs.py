"""Tokens of every rank and width, weights of both signs, eps that matters, rows of zeros and of one large value."""

from __future__ import annotations

import torch

AXES = {"x": "... D", "weight": "D", "return": "... D"}
SIZES = {"D": (1, 9, 192)}
SIXTEEN_BITS = "native"  # the weight may multiply before or after the cast
OFFSET = 1e4


def case(make):
    x = make.argument("x", scale=make.pick([1.0, 3.0, 0.05]), mean=make.pick([0.0, 2.0]))
    make.call("rms_norm", x, make.argument("weight"), eps=make.pick([1e-6, 1e-2, 0.5, 1e-5]))


def edge_rows_of_zeros_and_of_one_value(make):
    """zeros stay zeros, constant rows become the weight with their sign

    全 0 的行还是 0；常数行变成带符号的权重
    """
    x = torch.tensor([[0.0, 0.0, 0.0, 0.0], [2.0, 2.0, 2.0, 2.0], [-7.0, -7.0, -7.0, -7.0], [0.0, 5.0, 0.0, 0.0]])
    make.call("rms_norm", make.keep(x, grad=True), make.normal(4))
    make.call("rms_norm", make.keep(torch.tensor([[3.0], [-0.5], [0.0]]), grad=True), make.normal(1))


def edge_eps_against_the_scale(make):
    """eps from 10⁻⁸ to 1: inside the root, and used as given

    ε 从 10⁻⁸ 到 1：在根号里面，传多少用多少
    """
    for scale, eps in ((1e-3, 1e-5), (1e-3, 1e-8), (1e-4, 1e-6), (1.0, 1.0), (1.0, 0.1)):
        make.call("rms_norm", make.normal(3, 8, scale=scale), make.normal(8), eps)


def edge_rows_far_apart(make):
    """rows around 10⁴, 1 and 10⁻³, and one value at 13 times the others: each row by itself, nothing clipped

    各行的量级是 10⁴、1 和 10⁻³，还有一个值是其余的 13 倍：逐行统计，不截断
    """
    size = torch.tensor([[1e4], [1.0], [1e-3]], dtype=torch.float64)
    make.call("rms_norm", make.keep(size * make.normal(3, 130, grad=False), grad=True), make.normal(130))
    x = make.normal(2, 192, grad=False)
    x[0, 150], x[1, 3] = 13.0, -60.0
    make.call("rms_norm", make.keep(x, grad=True), make.normal(192))


def edge_float16_squares_overflow(make):
    """float16 near 2·10⁴, whose squares do not fit, and near 10⁻⁴, whose squares vanish

    float16 约 2·10⁴，平方放不下；约 10⁻⁴，平方成了 0
    """
    weight = torch.tensor([1.0, 0.5, 2.0, 1.5]).half()
    for row, eps in (([20000.0, -20000.0, 19008.0, 1.0], 1e-6), ([1e-4, -2e-4, 3e-4, 1e-4], 1e-12)):
        make.call(
            "rms_norm", make.keep(torch.tensor([row]).half(), dtype="fixed"), make.keep(weight, dtype="fixed"), eps
        )
