"""Matrices of every ragged size, sums deep in both tails of GELU, biases that decide."""

from __future__ import annotations

import torch

AXES = {"x": "M K", "w": "K N", "b": "N", "return": "M N"}
SIZES = {"M": (1, 20), "N": (1, 20), "K": (1, 20)}
GRADIENTS = False
TOLERANCE = dict.fromkeys(("float32", "float16"), 1e-6)  # ½·(1 + tanh u) cancels where u is far below 0
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"], "low-precision": ["fp16"]}


def case(make):
    K = make.size("K")
    x, w = make.argument("x", grad=False), make.argument("w", scale=make.pick([1.0, 3.0]) * K**-0.5, grad=False)
    make.call("linear_gelu", x, w, make.argument("b", grad=False))


def call(make, M, N, K):
    x, w = make.normal(M, K, grad=False), make.normal(K, N, scale=K**-0.5, grad=False)
    make.call("linear_gelu", x, w, make.normal(N, grad=False))


def edge_tiles_in_both_directions(make):
    """several tiles on each axis, none of them full: more rows than columns, more columns than rows, a long K

    每个方向都有好几块，边上的块都不满：行多列少、列多行少、K 很长
    """
    for M, N, K in ((130, 140, 20), (70, 33, 18), (17, 70, 65), (3, 5, 300)):
        call(make, M, N, K)


def edge_whole_tiles(make):
    """sizes that tiles divide, and one more

    恰好能被块整除的大小，以及多一个的大小
    """
    for M, N, K in ((64, 64, 32), (65, 32, 32), (32, 65, 32), (32, 32, 65), (16, 16, 16)):
        call(make, M, N, K)


def edge_tails_of_gelu(make):
    """single sums: 0, and the tails from −100 to 100

    单个的和：0，以及从 −100 到 100 的两端
    """
    z = torch.tensor([0.0, 0.5, -0.5, 1.0, -1.0, 2.2, -2.2, 5.0, -5.0, 12.0, -12.0, 100.0, -100.0])
    make.call("linear_gelu", make.keep(z[:, None]), make.keep(torch.ones(1, 1)), make.keep(torch.zeros(1)))


def edge_bias_alone(make):
    """x is 0: the bias of each column decides, and is part of what GELU sees

    x 全是 0：每一列由偏置决定，而且偏置在 GELU 之前加
    """
    b = torch.linspace(-3.0, 3.0, 19)
    make.call("linear_gelu", make.keep(torch.zeros(5, 4)), make.normal(4, 19, grad=False), make.keep(b))


def edge_float16_sums(make):
    """float16: 3,000 products of 1, added to 3,000, and sums that cancel far beyond 2,048

    float16：3000 个 1 相加得 3000；以及超过 2048 之后再抵消的和
    """
    ones, half = torch.ones(2, 3000), torch.ones(3000, 3)
    half[1500:, 1:] = -1.0
    half[0, 2] = 0.5
    make.call("linear_gelu", *(make.keep(t.half(), dtype="fixed") for t in (ones, half, torch.zeros(3))))


def _square(make, n):
    call(make, n, n, n)


CONTRACTS = [
    {
        "check": "work",
        "measure": "moved",
        "case": _square,
        "sizes": [32, 64, 96],
        "bound": lambda n: n**3 // 2 + 5 * n * n,
        "growth_at_most": 1.1,
        "says": {
            "en": "a tile of 16 × 16 or more in each program: an element of x is loaded once for 16 columns, one of w once for "
            "16 rows",
            "zh": "每个 program 至少算 16 × 16 的一块：x 的元素每 16 列读一次，w 的元素每 16 行读一次",
        },
    },
    {
        "check": "memory",
        "measure": "peak",
        "case": _square,
        "sizes": [32, 64, 96],
        "bound": lambda n: 4 * n * n,
        "growth_at_most": 1.5,
        "says": {
            "en": "nothing of the size of the result is made beside it",
            "zh": "除了结果，不另外产生同样大小的张量",
        },
    },
]
