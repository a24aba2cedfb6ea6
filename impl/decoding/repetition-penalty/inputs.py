"""Logits of both signs, histories with repeats, each row's own; penalties above, at and below 1."""

from __future__ import annotations

import torch

AXES = {"logits": "B V", "ids": "B T", "return": "B V"}
SIZES = {"B": (1, 4), "V": (1, 8, 150), "T": (1, 6, 60)}
GRADIENTS = False
HARDENED = {"edge_penalty_of_one", "edge_penalty_in_16_bits"}


def case(make):
    B, V, T = make.sizes("B", "V", "T")
    ids = make.integers(0, max(1, make.pick([V, V // 2, 1])), B, T)
    make.call("repetition_penalty", make.argument("logits", scale=3.0), ids, make.pick([1.2, 2.0, 1.0, 0.5, 10.0]))


def edge_signs_and_repeats(make):
    """positive, negative, zero and −inf logits; a token that occurs three times, or not at all; id 0

    正、负、零和 −inf 的 logit；出现三次的 token，没出现过的 token；id 为 0
    """
    logits = torch.tensor([[2.0, -2.0, 0.0, -torch.inf, 5.0], [-1.0, 3.0, -4.0, 1.0, 0.5]])
    for ids in ([[0, 1, 2, 3], [3, 3, 3, 0]], [[4, 4, 4, 4], [2, 2, 1, 2]], [[1, 0, 1, 0], [4, 4, 4, 4]]):
        for penalty in (1.3, 0.7):
            make.call("repetition_penalty", make.keep(logits), torch.tensor(ids), penalty)


def edge_no_history(make):
    """no ids yet: nothing is punished

    还没有 ids：什么都不罚
    """
    for B in (1, 3):
        make.call("repetition_penalty", make.normal(B, 5), torch.zeros(B, 0, dtype=torch.int64), 1.5)


def edge_a_long_history(make):
    """300 ids, of which the first ones do not come again: they count too

    300 个 id，最前面的几个之后再没出现：照样算
    """
    ids = torch.tensor([[1, 2, *[0] * 298], [3, *[4] * 299]])
    make.call("repetition_penalty", make.normal(2, 6, scale=3.0, grad=False), ids, 1.5)


def edge_penalty_of_one(make):
    """penalty 1 changes nothing, and the result does not share memory

    penalty 为 1：什么都不变，但结果不得与输入共享内存
    """
    make.call("repetition_penalty", make.normal(2, 5), torch.tensor([[1, 2], [0, 0]]), 1.0)


def edge_penalty_in_16_bits(make):
    """16 bits: a penalty of 1.3 is not rounded to 16 bits first

    16 位：penalty 为 1.3 时，不能先舍入到 16 位
    """
    ids = torch.tensor([[0, 1, 2, 3], [4, 5, 6, 7]])
    for dtype in (torch.bfloat16, torch.float16):
        logits = make.normal(2, 8, scale=3.0, grad=False).to(dtype)
        make.call("repetition_penalty", make.keep(logits, dtype="fixed"), ids, 1.3)
