"""Heads of every width, long and short queries and keys, gains of both signs, masks of every broadcastable shape."""

from __future__ import annotations

import torch

AXES = {
    **dict.fromkeys(("q", "k", "v", "return"), "B H T d"),
    **dict.fromkeys(("gq", "gk"), "d"),
    "mask": "... B H T T",
}
SIZES = {"B": (1, 3), "H": (1, 3), "T": (1, 6, 90), "d": (1, 5, 66)}
LARGE = 10.0  # the gains grow, so the logits reach ±200 and more
PROFILES = {"stable": ["large"]}
HARDENED = {"edge_float16_squares_overflow"}


def case(make):
    B, H, T = make.sizes("B", "H", "T")
    scale = make.pick([1.0, 5.0, 0.1])
    q, k = make.argument("q", scale=scale), make.argument("k", scale=2.0 * scale)
    mask = make.optional_mask(B, H, T, T)
    eps = make.pick([1e-6, 1e-2, 0.5])
    make.call("qk_norm_attention", q, k, *make.arguments("v", "gq", "gk"), mask, eps=eps)


def edge_lengths_do_not_matter(make):
    """queries and keys a thousand times longer: the same attention

    query 和 key 放大一千倍：注意力不变
    """
    q, k, others = (
        make.normal(2, 2, 4, 6),
        make.normal(2, 2, 4, 6),
        [make.normal(2, 2, 4, 6), make.normal(6), make.normal(6)],
    )
    for size in (1.0, 1e3):
        make.call("qk_norm_attention", make.keep(size * q, grad=True), make.keep(size * k, grad=True), *others)


def edge_eps_against_the_length(make):
    """short queries and zeros: eps inside the root, as given

    很短的 query 和全 0 的 query：ε 在根号里面，传多少用多少
    """
    q = make.normal(1, 2, 3, 4, scale=1e-3, grad=False)
    q[:, :, 1] = 0.0
    args = make.keep(q, grad=True), make.normal(1, 2, 3, 4), make.normal(1, 2, 3, 4), make.normal(4), make.normal(4)
    for eps in (1e-8, 1e-6, 1.0):
        make.call("qk_norm_attention", *args, eps=eps)


def edge_heads_of_other_lengths(make):
    """heads a hundred times longer than others: each is normalised by itself

    有的头比别的头长一百倍：各自归一化
    """
    size = torch.tensor([0.1, 1.0, 10.0]).reshape(1, 3, 1, 1)
    q, k = (make.keep(size * make.normal(2, 3, 4, 5), grad=True) for _ in range(2))
    make.call("qk_norm_attention", q, k, make.normal(2, 3, 4, 5), make.normal(5), make.normal(5), eps=1e-6)


def edge_float16_squares_overflow(make):
    """float16 queries and keys near 2·10⁴, whose squares do not fit

    float16 的 query 和 key 约 2·10⁴，平方放不下
    """
    q = torch.tensor([[[[20000.0, -15000.0], [1.0, 2.0]]]])
    tensors = (
        q,
        q.flip(-1),
        torch.tensor([[[[1.0, -0.5], [0.25, 2.0]]]]),
        torch.tensor([1.0, 0.5]),
        torch.tensor([0.5, 2.0]),
    )
    make.call("qk_norm_attention", *(make.keep(t.half(), dtype="fixed") for t in tensors))


def heads_at(make, H):
    """More and more heads, masked."""
    heads = [make.normal(2, H, 5, 4) for _ in range(3)]
    make.call("qk_norm_attention", *heads, make.normal(4), make.normal(4), make.mask(5, 5))


CONTRACTS = [
    {
        "check": "work",
        "measure": "calls",
        "case": heads_at,
        "sizes": (2, 8, 32),
        "bound": lambda H: H / 3,
        "growth_at_most": 1.5,
        "says": {
            "en": "the number of tensor operations grows with the number of heads: a Python loop over the heads",
            "zh": "张量操作的次数随头数增长：用 Python 循环逐头计算",
        },
    }
]
