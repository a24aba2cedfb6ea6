"""Tensors of every rank whose number of elements is no power of two, some of one element, some of many blocks."""

from __future__ import annotations

AXES = {"x": "... n", "y": "... n", "return": "... n"}
SIZES = {"n": (1, 300, 5000)}
LEAD = (0, 2)
GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"], "low-precision": ["fp16"]}


def case(make):
    make.call("vector_add", make.argument("x", grad=False), make.argument("y", grad=False))


def edge_one_more_than_a_block(make):
    """n just below, at and above powers of two: the tail has every length

    n 恰好是 2 的幂、少一个、多一个：最后一块的长度各不相同
    """
    for n in (1, 63, 64, 65, 127, 129, 1023, 1024, 1025, 2049):
        make.call("vector_add", make.normal(n, grad=False), make.normal(n, grad=False))


def _sized(make, n):
    make.call("vector_add", make.normal(n, grad=False), make.normal(n, grad=False))


CONTRACTS = [
    {
        "check": "work",
        "measure": "moved",
        "case": _sized,
        "sizes": [3000, 6000, 12000],
        "bound": lambda n: 12 * n,
        "growth_at_most": 1.1,
        "says": {
            "en": "each element is loaded once and stored once: 12 bytes for each sum in float32",
            "zh": "每个元素只读一次、写一次：float32 下每个和 12 字节",
        },
    }
]
