"""Batches, heads and tokens of every number, pairs that are no power of two, angles of every quadrant."""

from __future__ import annotations

import torch

AXES = {"x": "B H T d", "cos": "T d/2", "sin": "T d/2", "return": "B H T d"}
SIZES = {"B": (1, 2), "H": (1, 3), "T": (1, 5), "pairs": (1, 12)}
DERIVED = {"d": "2 * pairs"}
GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"], "low-precision": ["fp16"]}


def turn(make, B, H, T, pairs):
    """One call with angles of all quadrants."""
    angle = make.normal(T, pairs, scale=3.0, grad=False)
    tables = make.keep(angle.cos()), make.keep(angle.sin())
    make.call("rope", make.normal(B, H, T, 2 * pairs, grad=False), *tables)


def case(make):
    turn(make, *make.sizes("B", "H", "T", "pairs"))


def edge_pairs_of_every_width(make):
    """d/2 at powers of two, just beside them, and in between

    d/2 恰好是 2 的幂、差一个，或在两者之间
    """
    for pairs in (3, 16, 17, 31, 40, 48, 64, 80, 128):
        turn(make, 1, 1, 2, pairs)


def edge_many_tokens(make):
    """more tokens than a program takes: 37, and 9 in two items of three heads

    token 比一个 program 负责的多：37 个；两条序列、三个头、每条 9 个
    """
    turn(make, 1, 1, 37, 4)
    turn(make, 2, 3, 9, 5)


def edge_quarter_turns(make):
    """angles of 0, 90, 180 and 270 degrees: x as it is, (−b, a), −x, (b, −a)

    角度为 0、90、180、270 度：x 原样，(−b, a)，−x，(b, −a)
    """
    cos = torch.tensor([[1.0, 1.0], [0.0, 0.0], [-1.0, -1.0], [0.0, 0.0]])
    sin = torch.tensor([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [-1.0, -1.0]])
    x = torch.arange(1.0, 17.0).view(1, 1, 4, 4)
    make.call("rope", make.keep(x), make.keep(cos), make.keep(sin))


def edge_float16_pairs_that_cancel(make):
    """float16: a pair whose two products nearly cancel, so that rounding each of them is visible

    float16：一对分量的两个乘积几乎抵消，各自舍入就会出错
    """
    x = torch.tensor([[1001.0, -1003.0, 0.125, 999.0], [777.0, 1.0, 778.0, 1.0]])[None, None]
    cos = torch.tensor([[0.70703125, 0.7001953125], [0.6999511719, 1.0]])
    sin = torch.tensor([[0.7001953125, -0.70703125], [0.69921875, 0.0009765625]])
    make.call("rope", *(make.keep(t.half(), dtype="fixed") for t in (x, cos, sin)))


def _sized(make, T):
    turn(make, 2, 2, T, 24)


CONTRACTS = [
    {
        "check": "work",
        "measure": "moved",
        "case": _sized,
        "sizes": [4, 8, 16],
        "bound": lambda T: 12 * (2 * 2 * T * 48),
        "growth_at_most": 1.1,
        "says": {
            "en": "each element of x is loaded once, its result stored once, cos and sin once a head: 12 bytes an element in float32",
            "zh": "x 的每个元素读一次、结果写一次，cos、sin 每个头读一次：float32 下每个元素 12 字节",
        },
    }
]
