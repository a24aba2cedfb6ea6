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
SIXTEEN_BITS = "native"


def layer(make, N, D, E, F):
    """x, wg, w1, w2 with router scores that differ by 0.05 or more between any two experts of a token."""
    spread = 0.25
    while True:
        x = torch.randn((N, D), generator=make.random, dtype=torch.float64)
        x[:, 0] = 1.0
        wg = torch.randint(-3, 4, (D, E), generator=make.random).double() / 4
        wg[0] = torch.randperm(E, generator=make.random).double() * spread - 0.125 * E
        scores = (x @ wg).sort(dim=-1).values
        if E == 1 or bool((scores.diff(dim=-1) > 0.05).all()):
            break
        spread += 0.5
    w1 = torch.randn((E, D, F), generator=make.random, dtype=torch.float64)
    w2 = torch.randn((E, F, D), generator=make.random, dtype=torch.float64)
    return tuple(make.keep(t, grad=True) for t in (x, wg, w1, w2))


def case(make):
    N, D, E, F = make.size(1, 7), make.size(2, 5), make.size(1, 6), make.size(1, 6)
    k = min(E, make.size(1, 3))
    tensors = layer(make, N, D, E, F)
    if make.flag():
        width = make.size(1, 4)
        make.call("moe_forward", *tensors, k, (make.normal(D, width), make.normal(width, D)))
    else:
        make.call("moe_forward", *tensors, k)


def edge_one_token(make):
    """a single token: most experts have nothing to do

    只有一个 token：大多数专家无事可做
    """
    make.call("moe_forward", *layer(make, 1, 3, 5, 4), 2)


def edge_one_expert(make):
    """one expert, k = 1: its gate is 1

    只有一个专家，k = 1：门控为 1
    """
    make.call("moe_forward", *layer(make, 4, 3, 1, 2), 1)


def edge_all_experts(make):
    """k = E: every expert is chosen by every token

    k = E：每个 token 选中所有专家
    """
    make.call("moe_forward", *layer(make, 3, 4, 6, 2), 6)


def edge_everybody_to_one(make):
    """all tokens choose the same expert, with logits above 100; the others get zero gradients

    所有 token 选同一个专家，logits 超过 100；其余专家梯度为 0
    """
    x, _, w1, w2 = layer(make, 5, 3, 4, 3)
    wg = torch.zeros(3, 4, dtype=torch.float64)
    wg[0] = torch.tensor([0.0, 9.0, 3.0, -3.0])
    make.call("moe_forward", x, make.keep(wg, grad=True), w1, w2, 1)
    wg[0] += 100.0
    make.call("moe_forward", make.keep(x), make.keep(wg), w1, w2, 2)


def edge_many_experts(make):
    """100 tokens, 12 experts: 89 tokens that choose alike, 11 that stand alone

    100 个 token、12 个专家：89 个 token 选得一样，11 个各选各的
    """
    kinds = torch.arange(100).clamp(max=11)
    x = torch.cat([2.0 * torch.eye(12)[kinds], torch.randn(100, 2, generator=make.random)], dim=1)
    scores = torch.stack([torch.randperm(12, generator=make.random) for _ in range(12)]) * 0.125
    wg = torch.cat([scores, torch.zeros(2, 12)])
    w1, w2 = make.normal(12, 14, 3), make.normal(12, 3, 14)
    for k in (1, 5):
        make.call("moe_forward", make.keep(x, grad=True), make.keep(wg, grad=True), w1, w2, k)


def edge_sixteen_bits(make):
    """bfloat16 and float16: the result has their dtype; every number is whole, and the gate is 1

    bfloat16 和 float16：输出保持输入的 dtype；所有数都是整数，门控为 1
    """
    x, wg = torch.tensor([[1.0, 2.0], [3.0, -1.0]]), torch.tensor([[40.0, -40.0], [0.0, 0.0]])
    w1, w2 = torch.tensor([[[1.0, -2.0], [2.0, 1.0]]] * 2), torch.tensor([[[3.0, 1.0], [1.0, -2.0]]] * 2)
    for dtype in (torch.bfloat16, torch.float16):
        fixed = [make.keep(t.to(dtype), dtype="fixed") for t in (x, wg, w1, w2, w1[0], w2[0])]
        make.call("moe_forward", *fixed[:4], 1)
        make.call("moe_forward", *fixed[:4], 1, tuple(fixed[4:]))


def edge_as_many_tokens_as_experts(make):
    """N = E = D = F: a transposition keeps every shape

    N = E = D = F：就算转置错了，形状也都对得上
    """
    make.call("moe_forward", *layer(make, 4, 4, 4, 4), 2)


def edge_shared(make):
    """a shared expert of another width, ungated

    共享专家的宽度不同，不乘门控
    """
    make.call("moe_forward", *layer(make, 4, 3, 3, 5), 2, (make.normal(3, 2), make.normal(2, 3)))


def edge_two_calls(make):
    """two calls of equal shape do not meet

    形状相同的两次调用互不影响
    """
    make.call("moe_forward", *layer(make, 3, 3, 4, 2), 2)
    make.call("moe_forward", *layer(make, 3, 3, 4, 2), 2)


def more_experts(make, E):
    make.call("moe_forward", *layer(make, 48, 16, E, 32), 2)


def more_experts_for_few(make, E):
    """Six tokens, one choice each, and a shared expert."""
    make.call("moe_forward", *layer(make, 6, 16, E, 32), 1, (make.normal(16, 8), make.normal(8, 16)))


def more_choices(make, k):
    make.call("moe_forward", *layer(make, 48, 16, 8, 32), k)


def more_tokens(make, N):
    make.call("moe_forward", *layer(make, N, 8, 4, 8), 2)


def more_tokens_to_one(make, N):
    """One choice each, and a shared expert."""
    make.call("moe_forward", *layer(make, N, 8, 4, 8), 1, (make.normal(8, 4), make.normal(4, 8)))


_ALL_EXPERTS = {
    "en": "the work grows with the number of experts, as if all of them were computed",
    "zh": "计算量随专家数增长，好像每个专家都算了一遍",
}
_TOKEN_BY_TOKEN = {
    "en": "the number of tensor operations grows with the number of tokens: a loop over tokens",
    "zh": "张量操作的次数随 token 数增长：对 token 做了循环",
}
CONTRACTS = [
    {
        "check": "work",
        "measure": "flops",
        "case": more_experts,
        "sizes": (4, 8, 16, 32),
        "growth_at_most": 4.0,
        "bound": lambda E: 2 * 48 * 16 * E,
        "says": _ALL_EXPERTS,
    },
    {
        "check": "work",
        "measure": "flops",
        "case": more_experts_for_few,
        "sizes": (4, 12, 24),
        "growth_at_most": 1.0,
        "bound": lambda E: 4000 * E,  # a few operations on (N, D) for each; computing it for all would be 12,000
        "says": _ALL_EXPERTS,
    },
    {
        "check": "work",
        "measure": "flops",
        "case": more_choices,
        "sizes": (1, 2, 4),
        "growth_at_most": 2.5,
        "says": {
            "en": "the work grows faster than the number of chosen experts",
            "zh": "计算量比选中的专家数涨得更快",
        },
    },
    *(
        {
            "check": "work",
            "measure": "calls",
            "case": record,
            "sizes": (16, 64, 128),
            "growth_at_most": 1.0,
            "bound": lambda N: N / 2,
            "says": _TOKEN_BY_TOKEN,
        }
        for record in (more_tokens, more_tokens_to_one)
    ),
]
