"""Self- and cross-attention with 1 to D heads, masks of two and four dimensions, weights that are nothing special."""

from __future__ import annotations

import torch

AXES = {
    **dict.fromkeys(("wq", "wk", "wv", "wo"), "D D"),
    "x_q": "B T D",
    "x_kv": "B S D",
    "mask": "... B H T S",
    "return": "B T D",
    "return[0]": "B T D",
    "return[1]": "B H T S",
}
SIZES = {"B": (1, 3), "T": (1, 5, 70), "S": (1, 6, 150), "H": (1, 3), "d": (1, 4, 36)}
DERIVED = {"D": "H * d"}
LARGE = 4.0  # activations and weights grow together, so the logits reach ±200
PROFILES = {"stable": ["large"]}
HARDENED = {"edge_visible_scores_very_low"}


def weights(make, D):
    return [make.normal(D, D, scale=D**-0.5 + 0.2) for _ in range(4)]


def case(make):
    B, H, T, S, D = make.sizes("B", "H", "T", "S", "D")
    mask = make.optional_mask(B, H, T, S, ranks=[2, 4], keep=make.pick([0.6, 0.9]))
    arguments = [*make.arguments("x_q", "x_kv"), *weights(make, D), H]
    make.call("multi_head_attention", *arguments, mask, return_weights=make.flag())


def edge_visible_scores_very_low(make):
    """visible scores near −3·10⁴, and hidden ones of 3·10⁴: no finite value replaces −∞

    可见分数约 −3·10⁴，被掩码的有 3·10⁴：填任何有限值都代替不了 −∞
    """
    x = make.keep(torch.tensor([[[1.0], [1.001], [-1.0]]]))
    wq, wk, one = (make.keep(torch.full((1, 1), value)) for value in (180.0, -180.0, 1.0))
    mask = torch.tensor([[True, True, False], [True, True, False], [False, False, True]])
    make.call("multi_head_attention", x, x, wq, wk, one, one, 1, mask, True)


def edge_masks_of_several_ones(make):
    """masks of which two dimensions or more are 1

    掩码有两维以上是 1
    """
    arguments = [make.normal(3, 4, 6), make.normal(3, 5, 6), *weights(make, 6)]
    for shape in ((3, 3, 1, 1), (1, 3, 1, 5), (3, 1, 4, 1), (1, 3, 4, 1), (1, 1, 1, 1), (1, 1)):
        make.call("multi_head_attention", *arguments, 3, make.mask(*shape), True)


def heads_at(make, n_heads):
    """The same attention of width 32, cut into more and more heads."""
    make.call("multi_head_attention", make.normal(2, 8, 32), make.normal(2, 8, 32), *weights(make, 32), n_heads)


def masked_heads_at(make, n_heads):
    """The same under a mask, with the weights."""
    x = make.normal(2, 8, 32)
    make.call("multi_head_attention", x, x, *weights(make, 32), n_heads, make.mask(8, 8), True)


_FLOPS = {
    "en": "the work grows with the number of heads, as if every head worked on the full width",
    "zh": "计算量随头数增长，好像每个头都在整个宽度上计算",
}
_CALLS = {
    "en": "the number of tensor operations grows with the number of heads: a Python loop over the heads",
    "zh": "张量操作的次数随头数增长：用 Python 循环逐头计算",
}
# Softmax and mask over (B, H, T, S), generously: a full-width product costs 32 768 for every head. Copies that some
# widths need and others don't: a loop makes at least one call for every head.
CONTRACTS = [
    {
        "check": "work",
        "measure": measure,
        "case": record,
        "sizes": (2, 8, 32),
        "bound": bound,
        "growth_at_most": 1.5,
        "says": says,
    }
    for record in (heads_at, masked_heads_at)
    for measure, bound, says in (("flops", lambda H: 3_000 * H, _FLOPS), ("calls", lambda H: H / 3, _CALLS))
]
