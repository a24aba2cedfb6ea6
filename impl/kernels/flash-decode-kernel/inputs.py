"""Splits that do not divide the keys, more splits than keys, groups of several heads, parts that weigh next to nothing."""

from __future__ import annotations

import torch

AXES = {"q": "B H d", "k": "B G S d", "v": "B G S d", "return": "B H d"}
SIZES = {"B": (1, 1), "G": (1, 2), "R": (1, 2), "S": (1, 9), "d": (1, 9), "splits": (1, 2)}
DERIVED = {"H": "G * R"}
GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"], "low-precision": ["fp16"]}
WITHOUT_MOTIFS = {"styles", "equal", "again"}  # many programs, and drawn cases show the same


def drawn(make, B, G, R, S, d, splits):
    q, k, v = (make.normal(*shape, grad=False) for shape in ((B, G * R, d), (B, G, S, d), (B, G, S, d)))
    make.call("flash_decode", q, k, v, splits)


def case(make):
    q, k, v = (make.argument(name, grad=False) for name in "qkv")
    make.call("flash_decode", q, k, v, make.size("splits"))


def edge_batch_and_groups(make):
    """several sequences, groups of three and of twenty heads

    多条序列，每组 3 个、20 个 head
    """
    drawn(make, 2, 2, 3, 5, 4, 1)
    drawn(make, 1, 1, 20, 6, 5, 2)
    drawn(make, 1, 3, 2, 4, 3, 2)


def edge_splits_that_do_not_divide(make):
    """splits of unequal length, splits without a key, one key for many splits

    各段长短不一，有的段没有 key，一个 key 分给许多段
    """
    for S, splits in ((7, 2), (5, 4), (3, 5), (1, 4), (12, 9)):
        drawn(make, 1, 1, 2, S, 3, splits)


def edge_long_splits(make):
    """splits of many keys, no power of two

    每段有很多 key，个数不是 2 的幂
    """
    drawn(make, 1, 1, 2, 300, 5, 3)
    drawn(make, 1, 1, 3, 140, 17, 1)


def edge_scores_far_apart(make):
    """scores that rise or fall by hundreds from split to split, or all lie near −1000 or 1000

    分数在各段之间相差几百，或全在 −1000、1000 附近
    """
    steps = torch.arange(12).div(3, rounding_mode="floor")[None, None, :, None].float()
    q = torch.tensor([20.0, 30.0])[None, :, None]
    levels = (10.0 * steps, -10.0 * steps, -50.0 - 0.01 * steps, 50.0 + 0.01 * steps)
    for k, splits in zip(levels, (2, 5, 5, 2), strict=True):
        make.call("flash_decode", make.keep(q), make.keep(k), make.normal(1, 1, 12, 1, grad=False), splits)


CONTRACTS = [
    {
        "check": "work",
        "measure": "moved",
        "case": lambda make, S: drawn(make, 1, 2, 4, S, 8, 3),
        "sizes": (48, 96, 192),
        "bound": lambda S: 4 * 2 * 2 * S * 8,
        "growth_at_most": 1.1,
        "says": {
            "en": "keys and values of a group are loaded more than once for its heads",
            "zh": "同一组的 head 把 key 和 value 读了不止一遍",
        },
    }
]
