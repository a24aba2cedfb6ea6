"""Numbers of experts and of choices that are no power of two, equal logits, all of them negative, far apart."""

from __future__ import annotations

import torch

AXES = {"logits": "T E", "return[0]": "T k", "return[1]": "T k"}
SIZES = {"T": (1, 6), "k": (1, 4), "more": (0, 5)}
DERIVED = {"E": "k + more"}
GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"], "low-precision": ["fp16"]}
HARDENED = {"edge_minus_infinity", "edge_weights_of_16_bit_logits"}


def case(make):
    scale = make.pick([1.0, 8.0])
    make.call("topk_router", make.argument("logits", scale=scale, grad=False), make.size("k"))


def edge_many_tokens_and_experts(make):
    """many tokens, many experts, k a power of two, one less, one more, and all

    很多 token，很多专家；k 恰好是 2 的幂、少一个、多一个，以及全选
    """
    for T, E, k in ((37, 5, 2), (150, 3, 1), (3, 65, 8), (2, 300, 7), (3, 60, 9), (2, 16, 16), (2, 13, 13)):
        make.call("topk_router", make.normal(T, E, grad=False), k)


def edge_equal_logits(make):
    """equal logits: the lowest expert first, each chosen once

    logits 相等：编号最小的专家在前，每个只选一次
    """
    make.call("topk_router", make.keep(torch.zeros(2, 6)), 4)
    make.call("topk_router", make.keep(torch.full((2, 5), -3.0)), 5)
    steps = torch.tensor(
        [[1.0, 2, 2, 0, 2, 1, 1], [0, 0, 0, 0, 0, 0, 1], [5, 5, 1, 1, 5, 1, 1], [-2, -1, -2, -1, -2, -1, -2]]
    )
    for k in (1, 3, 6):
        make.call("topk_router", make.keep(steps), k)


def edge_far_apart(make):
    """logits all negative, of ±200, of ±10⁴ with small differences

    logits 全为负、到 ±200、到 ±10⁴ 而差别很小
    """
    rows = torch.tensor([[-1.0, -2.0, -0.5, -4.0, -3.0], [200.0, -200.0, 199.0, 0.0, 198.5]])
    for x in (rows, rows - 300.0, 1e4 + 0.5 * rows.clamp(-4, 4), -1e4 + 0.5 * rows.clamp(-4, 4)):
        for k in (2, 3):
            make.call("topk_router", make.keep(x), k)


def edge_minus_infinity(make):
    """logits of −inf, fewer finite ones than k: they come last, lowest first, with weight 0

    logits 为 −inf，有限的不到 k 个：排在最后，编号小的在前，权重为 0
    """
    x = make.normal(4, 7, grad=False)
    x[0, :3], x[1, 1:], x[2, ::2], x[3, :6] = -torch.inf, -torch.inf, -torch.inf, -torch.inf
    for k in (1, 3, 7):
        make.call("topk_router", make.keep(x), k)


def edge_weights_of_16_bit_logits(make):
    """float16 logits: the weights are float32, with all their digits

    float16 的 logits：权重是 float32，保留全部精度
    """
    rows = torch.linspace(0.0, -3.0, 24).reshape(2, 12).half()
    for k in (3, 12):
        make.call("topk_router", make.keep(rows, dtype="fixed"), k)


CONTRACTS = [
    {
        "check": "work",
        "measure": "moved",
        "case": lambda make, T: make.call("topk_router", make.normal(T, 33, grad=False), 3),
        "sizes": (16, 32, 64),
        "bound": lambda T: T * (4 * 33 + 12 * 3),
        "growth_at_most": 1.1,
        "says": {
            "en": "each logit is loaded once, each weight and index stored once",
            "zh": "每个 logit 只读一次，每个权重、每个下标只写一次",
        },
    }
]
