"""Rows of every width up to 3,000, means that dwarf the spread, eps that matters, constant rows."""

from __future__ import annotations

import torch

AXES = {"x": "... D", "weight": "D", "bias": "D", "return": "... D"}
SIZES = {"D": (1, 40)}
LEAD = (0, 2)
GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"], "low-precision": ["fp16"]}
WITHOUT_MOTIFS = {"long"}  # 150 rows take the interpreter a second: `edge_many_rows` has 70


def call(make, x, *eps):
    D = x.shape[-1]
    make.call("layer_norm", x, make.normal(D, grad=False), make.normal(D, grad=False), *eps)


def case(make):
    x = make.argument("x", scale=make.pick([1.0, 3.0, 0.05]), mean=make.pick([0.0, 2.0]), grad=False)
    weight, bias = make.argument("weight", grad=False), make.argument("bias", grad=False)
    make.call("layer_norm", x, weight, bias, eps=make.pick([1e-5, 1e-2, 0.5, 1e-6]))


def edge_means_far_from_zero(make):
    """a mean of 10³ or 3·10³ against a spread of 1: E[x²] − E[x]² has no digit left

    均值 10³ 或 3·10³，离散程度只有 1：E[x²] − E[x]² 一位有效数字都不剩
    """
    for D, mean in ((20, 1000.0), (20, -3000.0), (300, 3000.0), (1500, -1000.0)):
        call(make, make.keep(mean + make.normal(2, D, grad=False)))


def edge_constant_rows(make):
    """a constant row: eps keeps it finite, the result is the bias

    常数行：靠 ε 保持有限，输出就是 bias
    """
    call(make, make.keep(torch.tensor([[2.0] * 3, [1.0, -1.0, 0.5], [0.0] * 3, [-7.0] * 3])))


def edge_eps_against_the_spread(make):
    """eps from 10⁻⁸ to 1: inside the root, and used as given

    ε 从 10⁻⁸ 到 1：在根号里面，传多少用多少
    """
    for scale, eps in ((1e-3, (1e-5,)), (1e-3, (1e-8,)), (1e-3, ()), (1.0, (1.0,)), (1.0, (0.1,))):
        call(make, make.normal(3, 8, scale=scale, grad=False), *eps)


def edge_one_more_than_a_block(make):
    """rows just below, at and above powers of two, and 3,000: padding counts neither in the mean nor in the variance

    每行的长度恰好是 2 的幂、少一个、多一个，还有 3000：填充的位置既不算进均值，也不算进方差
    """
    for D in (31, 32, 33, 127, 128, 129, 1024, 1025, 3000):
        call(make, make.normal(2, D, mean=2.0, grad=False))


def edge_many_rows(make):
    """70 rows: one program per row, or a loop over rows

    70 行：每行都要有 program 处理
    """
    call(make, make.normal(70, 5, grad=False))


def edge_float16_squares_overflow(make):
    """float16 near 2·10⁴, whose squares do not fit, and 3,000 entries, whose sum does not

    float16 约 2·10⁴，平方放不下；3000 个元素，和放不下
    """
    rows = torch.tensor([[20000.0, -20000.0, 19008.0, 1.0], [20000.0, 19984.0, 20016.0, 20032.0]])
    ramp = torch.linspace(30.0, 40.0, 3000)[None]
    for x in (rows, ramp):
        D = x.shape[-1]
        weight, bias = torch.linspace(0.5, 1.5, D), torch.linspace(-1.0, 1.0, D)
        make.call("layer_norm", *(make.keep(t.half(), dtype="fixed") for t in (x, weight, bias)))


def _sized(make, rows):
    call(make, make.normal(rows, 1500, grad=False))


CONTRACTS = [
    {
        "check": "work",
        "measure": "moved",
        "case": _sized,
        "sizes": [1, 2, 4],
        "bound": lambda rows: 24 * 1500 * rows,
        "growth_at_most": 1.1,
        "says": {
            "en": "x is loaded three times at most, weight and bias once a row, y stored once: 24 bytes an element in float32",
            "zh": "x 最多读三遍，weight、bias 每行各读一次，y 写一次：float32 下每个元素 24 字节",
        },
    }
]
