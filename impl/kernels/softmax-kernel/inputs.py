"""Rows of 1 to 3,000 entries, −inf among them, and logits that overflow where nothing is subtracted."""

from __future__ import annotations

import torch

AXES = {"x": "... n", "return": "... n"}
SIZES = {"n": (1, 40)}
LEAD = (0, 2)
GRADIENTS = False
HARDENED = {"edge_nothing_but_minus_infinity"}
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"], "low-precision": ["fp16"]}
WITHOUT_MOTIFS = {"long"}  # 150 rows take the interpreter a second: `edge_many_rows` has 70
_GONE = float("-inf")


def case(make):
    x = make.argument("x", scale=make.pick([1.0, 4.0]), grad=False)
    if make.flag():
        seen = make.mask(*x.shape, keep=0.6)
        seen[..., -1] = True
        x = make.keep(x.masked_fill(~seen, _GONE))
    make.call("softmax", x)


def edge_logits_far_from_zero(make):
    """logits near ±10⁴, in one row and in neighbours

    logits 在 ±10⁴ 附近：同一行里，或相邻的行里
    """
    rows = [[1e4, 0.0, -1e4], [-1e4, -1e4, -1e4], [9999.0, 1e4, 9998.5], [-1e4, -9999.0, -9999.5], [90.0, 89.0, 0.0]]
    make.call("softmax", make.keep(torch.tensor(rows)))
    make.call("softmax", make.keep(torch.tensor([[-300.0], [300.0]])))


def edge_minus_infinity(make):
    """−inf gets exactly 0, in any position

    −inf 恰好得 0，不管在哪个位置
    """
    rows = [[0.5, _GONE, 1.25], [_GONE, _GONE, -3.0], [1e4, _GONE, 9999.0]]
    make.call("softmax", make.keep(torch.tensor(rows)))


def edge_nothing_but_minus_infinity(make):
    """a row of nothing but −inf gives zeros, its neighbours stay right

    全是 −inf 的行输出全 0，旁边的行照样要对
    """
    rows = [[0.5, _GONE, 1.25], [_GONE] * 3, [_GONE, _GONE, -3.0], [_GONE] * 3]
    make.call("softmax", make.keep(torch.tensor(rows)))
    make.call("softmax", make.keep(torch.tensor([[_GONE], [0.5]])))
    make.call("softmax", make.keep(torch.full((1, 2500), _GONE)))


def edge_one_more_than_a_block(make):
    """rows just below, at and above powers of two: the tail has every length

    每行的长度恰好是 2 的幂、少一个、多一个：最后一块的长度各不相同
    """
    for n in (63, 64, 65, 129, 256, 257, 1024, 1025):
        make.call("softmax", make.normal(2, n, scale=3.0, grad=False))


def edge_many_rows(make):
    """70 rows: one program per row, or a loop over rows

    70 行：每行都要有 program 处理
    """
    make.call("softmax", make.normal(70, 5, grad=False))


def edge_long_rows(make):
    """3,000 entries: the largest in the first, in the last or in a middle block, the blocks before it nothing but −inf

    3000 个元素：最大值在第一块、最后一块或中间一块，它前面的块也可能全是 −inf
    """
    x = make.normal(4, 3000, grad=False)
    x[0, 3] = 30.0
    x[1, 2990] = 30.0
    x[2, :1900] = _GONE
    x[3] += torch.linspace(-60.0, 60.0, 3000, dtype=x.dtype)  # each block larger than the one before
    make.call("softmax", make.keep(x))


def edge_float16_sums(make):
    """float16: 3,000 equal entries, whose sum of exponentials is beyond 2,048

    float16：3000 个相等的元素，指数之和超过 2048
    """
    make.call("softmax", make.keep(torch.zeros(2, 3000).half(), dtype="fixed"))


def _sized(make, rows):
    make.call("softmax", make.normal(rows, 2000, grad=False))


CONTRACTS = [
    {
        "check": "work",
        "measure": "moved",
        "case": _sized,
        "sizes": [1, 2, 4],
        "bound": lambda rows: 12 * 2000 * rows,
        "growth_at_most": 1.1,
        "says": {
            "en": "each element is loaded at most twice and stored once: 12 bytes an element in float32",
            "zh": "每个元素最多读两次、写一次：float32 下每个元素 12 字节",
        },
    }
]
