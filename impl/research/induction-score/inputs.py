"""Maps of every length beyond the period, rows that do not sum to 1, and heads that look at one place alone."""

from __future__ import annotations

import torch

AXES = {"attn": "L H T T", "return": "L H"}
SIZES = {"L": (1, 3), "H": (1, 4), "period": (1, 4, 40), "spare": (1, 7, 70)}
DERIVED = {"T": "period + spare"}


def case(make):
    make.call("induction_score", make.argument("attn"), make.size("period"))


def edge_heads_of_every_kind(make):
    """heads that look at one place each: 0, 1, 2 … tokens back, or at a later one

    每个头只看一个位置：往前 0、1、2 … 个 token，或者看后面的
    """
    for T, period in ((9, 4), (10, 3), (7, 6), (12, 1)):
        steps = torch.arange(-T + 1, T)
        places = torch.arange(T)[:, None] - torch.arange(T)  # how far back
        make.call("induction_score", make.keep((places == steps[:, None, None]).double()[None], grad=True), period)


def edge_last_query_alone(make):
    """T = period + 1: one query has an earlier copy

    T = period + 1：只有一个 query 在前面有同样的 token
    """
    for period in (1, 2, 5):
        make.hold(L=2, H=3, T=period + 1)
        make.call("induction_score", make.argument("attn"), period)


def edge_sums_in_16_bits(make):
    """bfloat16 and float16 weights of 1 and of 2⁻⁹ over three hundred queries: added in 16 bits, late ones vanish

    bfloat16、float16 的权重，先是 1，再是 2⁻⁹，共三百个 query：用 16 位累加，后面的会加不进去
    """
    column = torch.where(torch.arange(304) < 150, 1.0, 2.0**-9)
    for dtype in (torch.bfloat16, torch.float16):
        attn = column[:, None].expand(304, 304).to(dtype)[None, None]
        make.call("induction_score", make.keep(attn, dtype="fixed"), 4)
