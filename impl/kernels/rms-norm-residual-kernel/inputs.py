"""Rows of every width up to 3,000, sums that cancel, eps that matters, rows of zeros."""

from __future__ import annotations

import torch

AXES = {"x": "... D", "residual": "... D", "weight": "D", "return[0]": "... D", "return[1]": "... D"}
SIZES = {"D": (1, 40)}
LEAD = (0, 2)
GRADIENTS = False
SIXTEEN_BITS = "native"  # h is rounded between: half an ulp of y is not to be had
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"], "low-precision": ["fp16"]}
WITHOUT_MOTIFS = {"long"}  # 150 rows take the interpreter a second: `edge_many_rows` has 70


def call(make, *shape, eps=None, scale=1.0):
    """`shape` ends with D; eps is left out where it is None."""
    x, residual = (make.normal(*shape, scale=scale, grad=False) for _ in range(2))
    given = {} if eps is None else {"eps": eps}
    make.call("rms_norm_residual", x, residual, make.normal(shape[-1], grad=False), **given)


def case(make):
    x, residual = (
        make.argument("x", scale=make.pick([1.0, 3.0, 0.05]), grad=False),
        make.argument("residual", grad=False),
    )
    weight = make.argument("weight", grad=False)
    make.call("rms_norm_residual", x, residual, weight, eps=make.pick([1e-6, 1e-2, 0.5, 1e-5]))


def edge_rows_of_zeros_and_sums_that_cancel(make):
    """x = −residual gives zeros, both y and h; a row in which one sum alone remains

    x = −residual 时 y 和 h 全是 0；另有一行只剩下一个非零的和
    """
    x = torch.tensor([[1.0, -2.0, 3.0], [0.0, 0.0, 0.0], [5.0, 5.0, 5.0], [1.0, 1.0, 1.0]])
    residual = torch.tensor([[-1.0, 2.0, -3.0], [0.0, 0.0, 0.0], [-5.0, -5.0, 2.0], [1.0, 1.0, 1.0]])
    make.call("rms_norm_residual", *(make.keep(t) for t in (x, residual, torch.tensor([1.0, -0.5, 2.0]))))


def edge_eps_against_the_scale(make):
    """eps from 10⁻⁸ to 1: inside the root, and used as given

    ε 从 10⁻⁸ 到 1：在根号里面，传多少用多少
    """
    for scale, eps in ((1e-3, 1e-5), (1e-3, 1e-8), (1e-3, None), (1.0, 1.0), (1.0, 0.1)):
        call(make, 3, 8, eps=eps, scale=scale)


def edge_one_more_than_a_block(make):
    """rows just below, at and above powers of two, and 3,000: the mean is over D entries, not over the block

    每行的长度恰好是 2 的幂、少一个、多一个，还有 3000：均值除的是 D，不是块的宽度
    """
    for D in (31, 32, 33, 127, 128, 129, 1024, 1025, 3000):
        call(make, 2, D)


def edge_many_rows(make):
    """70 rows: one program per row, or a loop over rows

    70 行：每行都要有 program 处理
    """
    call(make, 70, 5)


def edge_float16_squares_overflow(make):
    """float16 near 2·10⁴, whose squares do not fit, and near 10⁻⁴, whose squares vanish

    float16 约 2·10⁴，平方放不下；约 10⁻⁴，平方成了 0
    """
    weight = torch.tensor([1.0, 0.5, 2.0, 1.5])
    for row, eps in (([1e4, -1e4, 9504.0, 1.0], 1e-6), ([1e-4, -2e-4, 3e-4, 1e-4], 1e-12)):
        made = [make.keep(t.half(), dtype="fixed") for t in (torch.tensor([row]), torch.tensor([row]), weight)]
        make.call("rms_norm_residual", *made, eps)


def _sized(make, rows):
    call(make, rows, 1500)


CONTRACTS = [
    {
        "check": "work",
        "measure": "moved",
        "case": _sized,
        "sizes": [1, 2, 4],
        "bound": lambda rows: 20 * 1500 * rows,
        "growth_at_most": 1.1,
        "says": {
            "en": "x and residual are loaded once, y and h stored once, the weight loaded once a row: 20 bytes an element in float32",
            "zh": "x、residual 各读一次，y、h 各写一次，weight 每行最多读一次：float32 下每个元素 20 字节",
        },
    }
]
