"""Rows of one class and of several blocks, ignored rows between others, logits that grow from block to block."""

from __future__ import annotations

import torch

AXES = {"logits": "N V", "targets": "N", "return[0]": "N", "return[1]": "N V"}
SIZES = {"N": (1, 5), "V": (1, 12)}
GRADIENTS = False
TOLERANCE = dict.fromkeys(("float32", "float16"), 2e-6)  # lse − x cancels where a target is nearly certain
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"], "low-precision": ["fp16"]}
HARDENED = {"edge_minus_infinity", "edge_long_rows_in_16_bits"}


def targets(make, N, V, ignored=-100, share=0.0):
    drop = make.mask(N, keep=share)
    return make.keep(torch.where(drop, ignored, make.integers(0, V, N)))


def case(make):
    N, V = make.sizes("N", "V")
    ignored = make.pick([-100, 0, -1])
    logits = make.argument("logits", scale=make.pick([1.0, 5.0]), grad=False)
    make.call("cross_entropy", logits, targets(make, N, V, ignored, 0.3), ignore_index=ignored)


def drawn(make, N, V, scale=1.0, **kwargs):
    make.call("cross_entropy", make.normal(N, V, scale=scale, grad=False), targets(make, N, V), **kwargs)


def edge_around_a_block(make):
    """rows of a power of two, of one less, of one more, and of several thousand logits

    一行的长度恰好是 2 的幂、少一个、多一个，以及几千个 logits
    """
    for V in (63, 64, 65, 1023, 1025, 5000):
        drawn(make, 2, V, 3.0)
    drawn(make, 37, 3)


def edge_ignored_rows(make):
    """all rows ignored, none, a class as ignore_index, other negative numbers

    所有行都忽略、一行也不忽略、ignore_index 是某个类别、是别的负数
    """
    rows = torch.tensor([2, 0, 2, 4])
    for kept, ignored in ((rows, 2), (rows, -1), (torch.full((4,), -7), -7), (rows.where(rows != 0, -100), -100)):
        make.call("cross_entropy", make.normal(4, 5, grad=False), make.keep(kept), ignored)
    drawn(make, 2, 2500, ignore_index=0)


def edge_logits_from_block_to_block(make):
    """logits that rise or fall by thousands along the row, or all lie near ±10⁴

    logits 沿着一行升高或降低几千，或全在 ±10⁴ 附近
    """
    steps = torch.linspace(0.0, 1.0, 2100)
    for row in (9000 * steps, -9000 * steps, 1e4 + 2 * steps, -1e4 - 2 * steps):
        make.call("cross_entropy", make.keep(row[None].expand(2, -1).contiguous()), make.keep(torch.tensor([3, 2099])))
    small = torch.tensor([[1e4, -1e4, 0.0], [-1e4, -1e4, -1e4], [1e4, 1e4, 9999.0], [200.0, 0.0, -200.0]])
    for target in (0, 1, 2):
        make.call("cross_entropy", make.keep(small), make.keep(torch.full((4,), target)))


def edge_minus_infinity(make):
    """classes that are masked out: logits of −inf, whole blocks of them

    被屏蔽的类别：logits 为 −inf，整块整块都是
    """
    logits = make.normal(3, 2200, grad=False)
    logits[0, :2100], logits[1, 5:], logits[2, 1::2] = -torch.inf, -torch.inf, -torch.inf
    make.call("cross_entropy", make.keep(logits), make.keep(torch.tensor([2150, 2, 4])))
    make.call("cross_entropy", make.keep(logits[:, 2098:2102]), make.keep(torch.tensor([3, -100, 2])))


def edge_long_rows_in_16_bits(make):
    """float16 rows of 6,000 equal logits

    float16，一行 6000 个相等的 logits
    """
    rows = torch.zeros(2, 6000, dtype=torch.float16)
    make.call("cross_entropy", make.keep(rows, dtype="fixed"), make.keep(torch.tensor([5999, 1])))


CONTRACTS = [
    {
        "check": "work",
        "measure": "moved",
        "case": lambda make, V: drawn(make, 2, V),
        "sizes": (1500, 3000, 6000),
        "bound": lambda V: 2 * 12 * V,
        "growth_at_most": 1.1,
        "says": {
            "en": "each logit is loaded at most twice and its gradient stored once: 12 bytes in float32",
            "zh": "每个 logit 至多读两次，梯度写一次：float32 下 12 字节",
        },
    }
]
