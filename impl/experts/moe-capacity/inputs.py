"""Experts that overflow, that fill exactly and that stay empty; capacities that are no whole number before rounding."""

from __future__ import annotations

import math

import torch

AXES = {"idx": "N k", "return[0]": "N k", "return[1]": "N k"}
SIZES = {"N": (1, 7, 150), "E": (1, 5, 40)}
GRADIENTS = False
HARDENED = {"edge_whole_products"}
_FACTORS = [1.0, 1.25, 0.5, 2.0, 0.25, 0.75]


def factor(make, N, k, E):
    """A factor whose product is rounded up alike in whatever order it is computed."""
    fitting = [f for f in _FACTORS if math.ceil(f * N * k / E) == math.ceil(N * k / E * f) == math.ceil(f / E * N * k)]
    return make.pick(fitting)


def choices(make, N, k, E):
    """k distinct experts for each token, some experts more often than others."""
    popular = make.pick([0.0, 0.5, 2.0]) * torch.arange(E) / E
    return (torch.rand((N, E), generator=make.random) + popular).argsort(dim=-1)[:, :k].contiguous()


def case(make):
    (N, E), k = make.sizes("N", "E"), make.pick([2, 1, 3, 99])
    k = min(k, E)
    make.call("dispatch_with_capacity", make.keep(choices(make, N, k, E)), E, factor(make, N, k, E))


def edge_everybody_to_one(make):
    """all tokens choose the same experts: the first ones fill them, in the order of the tokens

    所有 token 选同样的专家：先来的占满，按 token 的顺序
    """
    for capacity_factor in (1.0, 0.5, 4.0):
        make.call("dispatch_with_capacity", torch.tensor([[2, 0]] * 6), 4, capacity_factor)


def edge_token_by_token(make):
    """a token's second choice comes before the next token's first one

    一个 token 的第二选择，排在下一个 token 的第一选择之前
    """
    rows = [[0, 1], [1, 0], [1, 2], [2, 1], [0, 2]]
    for capacity_factor in (0.5, 0.75, 1.0):
        make.call("dispatch_with_capacity", torch.tensor(rows), 3, capacity_factor)


def edge_rounded_up(make):
    """capacities of 1.25, 0.25 and 3.0 before rounding: 2, 1 and 3

    取整之前容量是 1.25、0.25、3.0：取整后是 2、1、3
    """
    for count, experts, capacity_factor in ((5, 4, 1.0), (1, 4, 1.0), (6, 2, 1.0), (3, 2, 2.0)):
        idx = torch.zeros(count, 1, dtype=torch.long)
        make.call("dispatch_with_capacity", idx, experts, capacity_factor)


def edge_every_expert(make):
    """k = E: every token chooses all experts, each in a different order

    k = E：每个 token 都选全部专家，顺序各不相同
    """
    idx = make.keep(choices(make, 6, 4, 4))
    for capacity_factor in (1.0, 0.75):
        make.call("dispatch_with_capacity", idx, 4, capacity_factor)


def edge_whole_products(make):
    """products that are whole numbers, but not if floats are divided first: 6 · 2 / 5 · 1.25 is 3

    乘积恰为整数，而先做除法的浮点结果不是：6 · 2 / 5 · 1.25 等于 3
    """
    for count, k, experts, capacity_factor in ((6, 2, 5, 1.25), (20, 3, 12, 1.25), (7, 5, 35, 3.0), (9, 2, 6, 0.75)):
        idx = torch.arange(k).expand(count, k).contiguous()
        make.call("dispatch_with_capacity", idx, experts, capacity_factor)
