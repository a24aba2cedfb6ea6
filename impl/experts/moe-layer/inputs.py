"""Tokens whose choices are far from ties; experts without tokens; work at growing E, k and N."""

from __future__ import annotations

import torch

AXES = {
    "x": "N D",
    "wg": "D E",
    "w1": "E D F",
    "w2": "E F D",
    "shared[0]": "D F'",
    "shared[1]": "F' D",
    "return": "N D",
}
SIZES = {"N": (1, 7, 70), "D": (2, 5), "E": (1, 6, 13), "F": (1, 6), "F'": (1, 4)}
SIXTEEN_BITS = "native"


def layer(make, N, D, E, F):
    """x, wg, w1, w2, the scores of any two experts of a token 0.05 apart or more."""
    spread = 0.25
    while True:
        x = torch.randn((N, D), generator=make.random, dtype=torch.float64)
        x[:, 0] = 1.0
        wg = torch.randint(-3, 4, (D, E), generator=make.random).double() / 4
        wg[0] = torch.randperm(E, generator=make.random).double() * spread - 0.125 * E
        scores = (x @ wg).sort(dim=-1).values
        if bool((scores.diff(dim=-1) > 0.05).all()):
            return make.keep(x, grad=True), make.keep(wg, grad=True), make.normal(E, D, F), make.normal(E, F, D)
        spread += 0.5


def case(make):
    k, sizes = make.pick([2, 1, 3, 99]), make.sizes("N", "D", "E", "F")
    shared = tuple(make.arguments("shared[0]", "shared[1]")) if make.flag() else None
    make.call("moe_forward", *layer(make, *sizes), min(k, sizes[2]), shared=shared)


def edge_everybody_to_one(make):
    """all tokens choose one expert, logits up to 109; the others get zero gradients

    所有 token 选同一个专家，logits 到 109；其余专家梯度为 0
    """
    x, _, w1, w2 = layer(make, 5, 3, 4, 3)
    for k, level in ((1, 0.0), (2, 100.0)):
        wg = torch.zeros(3, 4, dtype=torch.float64)
        wg[0] = torch.tensor([0.0, 9.0, 3.0, -3.0]) + level
        make.call("moe_forward", x, make.keep(wg, grad=True), w1, w2, k)


def edge_many_experts(make):
    """12 experts, 100 tokens: 89 choose alike, 11 each differently

    12 个专家、100 个 token：89 个选得一样，11 个各选各的
    """
    kinds = torch.arange(100).clamp(max=11)
    x = make.keep(2.0 * torch.eye(12)[kinds], grad=True)
    wg = torch.stack([torch.randperm(12, generator=make.random) for _ in range(12)]) * 0.125
    w1, w2 = make.normal(12, 12, 3), make.normal(12, 3, 12)
    for k in (1, 5):
        make.call("moe_forward", x, make.keep(wg, grad=True), w1, w2, k)


def edge_sixteen_bits(make):
    """bfloat16 and float16, whole numbers, gate 1: the result keeps the dtype

    bfloat16、float16，全是整数，门控为 1：输出的 dtype 不变
    """
    x, wg = torch.tensor([[1, 2], [3, -1]]), torch.tensor([[40, -40], [0, 0]])
    w1, w2 = (make.integers(-2, 4, 2, 2, 2) for _ in range(2))
    for dtype in (torch.bfloat16, torch.float16):
        fixed = [make.keep(t.to(dtype), dtype="fixed") for t in (x, wg, w1, w2, w1[0], w2[0])]
        make.call("moe_forward", *fixed[:4], 1)
        make.call("moe_forward", *fixed[:4], 1, tuple(fixed[4:]))


def at(N, D, E, F, k, shared=0):
    """A call in which None is the size that a contract asks for."""

    def record(make, size):
        n, d, e, f, chosen = (size if said is None else said for said in (N, D, E, F, k))
        pair = (make.normal(d, shared), make.normal(shared, d)) if shared else None
        make.call("moe_forward", *layer(make, n, d, e, f), chosen, pair)

    return record


def work(says, measure, at_most, sizes, bound, record):
    said = {"check": "work", "says": says, "measure": measure, "growth_at_most": at_most, "sizes": sizes}
    return {**said, "bound": bound, "case": record}


_ALL_EXPERTS = {"en": "the work grows with the number of experts", "zh": "计算量随专家数增长"}
_MORE_CHOICES = {"en": "the work grows faster than k", "zh": "计算量比 k 涨得更快"}
_TOKEN_BY_TOKEN = {"en": "the number of tensor operations grows with the tokens", "zh": "张量操作的次数随 token 数增长"}
_TOKENS = (16, 64, 128)
CONTRACTS = [
    work(_ALL_EXPERTS, "flops", 4.0, (4, 8, 16, 32), lambda E: 2 * 48 * 16 * E, at(48, 16, None, 32, 2)),
    # A few operations on (N, D) for each expert; computing it for all would be 12,000.
    work(_ALL_EXPERTS, "flops", 1.0, (4, 12, 24), lambda E: 4000 * E, at(6, 16, None, 32, 1, 8)),
    work(_MORE_CHOICES, "flops", 2.5, (1, 2, 4), None, at(48, 16, 8, 32, None)),
    work(_TOKEN_BY_TOKEN, "calls", 1.0, _TOKENS, lambda N: N / 2, at(None, 8, 4, 8, 2)),
    work(_TOKEN_BY_TOKEN, "calls", 1.0, _TOKENS, lambda N: N / 2, at(None, 8, 4, 8, 1, 4)),
]
