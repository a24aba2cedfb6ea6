"""Ids that repeat, tables of every size, scaled and not."""

from __future__ import annotations

import torch

AXES = {"ids": "B T", "table": "V D", "return": "B T D"}
SIZES = {"B": (1, 3), "T": (1, 5, 60), "V": (1, 9, 300), "D": (1, 7, 66)}


def case(make):
    B, T, V = make.sizes("B", "T", "V")
    make.call("embed_tokens", make.integers(0, V, B, T), make.argument("table"), scale=make.flag())


def edge_one_token_everywhere(make):
    """one token fills the batch: its row gets the sum of all gradients, the first and the last row too

    整个 batch 都是同一个 token：它那一行得到全部梯度之和；第一行、最后一行也一样
    """
    for token in (0, 2, 4):
        for scale in (False, True):
            make.call("embed_tokens", torch.full((2, 3), token), make.normal(5, 6), scale)


def edge_every_token_once(make):
    """every token once, in any order, and a table of which little is used

    每个 token 恰好一次，顺序任意；以及只用到一小部分的表
    """
    make.call("embed_tokens", torch.tensor([[3, 0, 5], [1, 4, 2]]), make.normal(6, 3))
    make.call("embed_tokens", torch.tensor([[40, 7, 40]]), make.normal(41, 5))


def edge_two_tables(make):
    """two tables of one shape in turns, scaled and not

    两张形状相同的表轮流用，缩放与不缩放
    """
    ids, first, second = torch.tensor([[1, 2, 1]]), make.normal(3, 4), make.normal(3, 4)
    for table, scale in ((first, True), (second, True), (first, False), (first, True)):
        make.call("embed_tokens", ids, table, scale)


def edge_root_between_sixteen_bit_numbers(make):
    """√19 in bfloat16 and √17 in float16 lie between two numbers: the product is rounded once

    bfloat16 表示不了 √19，float16 表示不了 √17：乘积只舍入一次
    """
    for dtype, D in ((torch.bfloat16, 19), (torch.float16, 17)):
        table = torch.linspace(-2.0, 3.0, 4 * D).reshape(4, D).to(dtype)
        make.call("embed_tokens", torch.tensor([[3, 0, 1], [2, 2, 0]]), make.keep(table, dtype="fixed"))
