"""Memories of any length and width, with padding and without, 1 to D heads."""

from __future__ import annotations

import torch

AXES = {
    **dict.fromkeys(("wq", "wo"), "D D"),
    **dict.fromkeys(("wk", "wv"), "Dm D"),
    "x": "B T D",
    "memory": "B S Dm",
    "memory_mask": "B S",
    "return": "B T D",
}
SIZES = {"B": (1, 3), "T": (1, 5, 60), "S": (1, 6, 130), "H": (1, 3), "d": (1, 4, 36), "Dm": (1, 7, 50)}
DERIVED = {"D": "H * d"}
LARGE = 4.0  # activations and weights grow together, so the logits reach ±200
PROFILES = {"stable": ["large"]}
HARDENED = {"edge_visible_scores_very_low"}


def weights(make, D, Dm):
    shapes = ((D, D), (Dm, D), (Dm, D), (D, D))
    return [make.normal(*shape, scale=shape[0] ** -0.5 + 0.2) for shape in shapes]


def case(make):
    B, S, H, D, Dm = make.sizes("B", "S", "H", "D", "Dm")
    mask = make.pick([None, make.mask(B, S), make.mask(B, S, keep=0.4)])
    make.call("cross_attention", *make.arguments("x", "memory"), *weights(make, D, Dm), H, memory_mask=mask)


def edge_lengths_of_the_memory(make):
    """padding at the end: one real token, all of them, none of them

    末尾是填充：只有一个真实 token、全部真实、一个也没有
    """
    mask = torch.arange(5) < torch.tensor([[1], [5], [0], [3]])
    args = make.normal(4, 3, 6), make.normal(4, 5, 4), *weights(make, 6, 4)
    for H in (1, 2, 6):
        make.call("cross_attention", *args, H, mask)


def edge_padding_leads(make):
    """padding with scores higher by hundreds, and with large values

    填充位置的分数高出几百，value 也很大
    """
    memory = make.normal(2, 6, 4, grad=False)
    memory[:, 3:] *= 300.0
    mask = (torch.arange(6) < 3).expand(2, 6).clone()
    make.call("cross_attention", make.normal(2, 3, 6), make.keep(memory), *weights(make, 6, 4), 3, mask)


def edge_no_memory_is_real(make):
    """nothing but padding for every sequence: zeros

    每条序列都只有填充：输出 0
    """
    args = make.normal(2, 3, 4), make.normal(2, 5, 4), *weights(make, 4, 4)
    make.call("cross_attention", *args, 2, torch.zeros(2, 5, dtype=torch.bool))


def edge_visible_scores_very_low(make):
    """visible scores near −3·10⁴, and hidden ones of 3·10⁴: no finite value replaces −∞

    可见分数约 −3·10⁴，被掩码的有 3·10⁴：填任何有限值都代替不了 −∞
    """
    x, memory = make.keep(torch.ones(1, 1, 1)), make.keep(torch.tensor([[[1.0], [1.001], [-1.0]]]))
    wq, wk, one = (make.keep(torch.full((1, 1), value)) for value in (180.0, -180.0, 1.0))
    make.call("cross_attention", x, memory, wq, wk, one, one, 1, torch.tensor([[True, True, False]]))


def heads_at(make, n_heads):
    """The same attention of width 32, cut into more and more heads."""
    args = make.normal(2, 8, 32), make.normal(2, 8, 24), *weights(make, 32, 24)
    make.call("cross_attention", *args, n_heads, make.mask(2, 8))


# Softmax and mask over (B, H, T, S), generously; a loop makes at least one call for every head.
CONTRACTS = [
    {
        "check": "work",
        "measure": measure,
        "case": heads_at,
        "sizes": (2, 8, 32),
        "bound": bound,
        "growth_at_most": 1.5,
        "says": says,
    }
    for measure, bound, says in (
        (
            "flops",
            lambda H: 3_000 * H,
            {
                "en": "the work grows with the number of heads, as if every head worked on the full width",
                "zh": "计算量随头数增长，好像每个头都在整个宽度上计算",
            },
        ),
        (
            "calls",
            lambda H: H / 3,
            {
                "en": "the number of tensor operations grows with the number of heads: a Python loop over the heads",
                "zh": "张量操作的次数随头数增长：用 Python 循环逐头计算",
            },
        ),
    )
]
