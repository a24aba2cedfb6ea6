"""Self- and cross-attention with 1 to D heads, masks of two and four dimensions, weights that are nothing special."""

from __future__ import annotations

import torch

AXES = {
    "x_q": "B T D",
    "x_kv": "B S D",
    "wq": "D D",
    "wk": "D D",
    "wv": "D D",
    "wo": "D D",
    "mask": "... B H T S",
    "return": "B T D",
    "return[0]": "B T D",
    "return[1]": "B H T S",
}
SIXTEEN_BITS = "native"
LARGE = 4.0  # activations and weights grow together, so the logits reach ±200
PROFILES = {"stable": ["large"]}
HARDENED = {"edge_visible_scores_very_low"}


def weights(make, D):
    return [make.normal(D, D, scale=D**-0.5 + 0.2) for _ in range(4)]


def mask_for(make, B, H, T, S):
    shapes = [(T, S), (B, 1, 1, S), (B, H, T, S), (1, S), (B, 1, T, S), (1, H, T, 1), (T, 1), (1, 1, T, S)]
    return make.mask(*make.pick(shapes), keep=make.pick([0.6, 0.9, 0.3]))


def case(make):
    B, T, S, H, d = make.size(1, 3), make.size(1, 5), make.size(1, 6), make.size(1, 3), make.size(1, 4)
    x_q = make.normal(B, T, H * d)
    x_kv = make.normal(B, S, H * d)
    if make.pick([False, False, True]):
        x_kv, S = x_q, T
    arguments = [x_q, x_kv, *weights(make, H * d), H]
    if make.profile == "meta":
        every_branch(make, arguments, mask_for(make, B, H, T, S))
        return
    mask = mask_for(make, B, H, T, S) if make.flag() else None
    style = make.pick(["plain", "weights", "keywords", "positional"])
    if style == "plain" and mask is None:
        make.call("multi_head_attention", *arguments)
    elif style == "plain":
        make.call("multi_head_attention", *arguments, mask)
    elif style == "weights":
        make.call("multi_head_attention", *arguments, mask, return_weights=True)
    elif style == "keywords":
        make.call("multi_head_attention", *arguments, mask=mask, return_weights=make.flag())
    else:
        make.call("multi_head_attention", *arguments, mask, make.flag())


def every_branch(make, arguments, mask):
    """All the ways to call it, for checks that draw few cases."""
    make.call("multi_head_attention", *arguments)
    make.call("multi_head_attention", *arguments, mask)
    make.call("multi_head_attention", *arguments, mask, True)
    make.call("multi_head_attention", *arguments, return_weights=True)


def edge_visible_scores_very_low(make):
    """visible scores near −3·10⁴, and hidden ones of 3·10⁴: no constant stands for −∞

    可见分数约 −3·10⁴，被挡的有 3·10⁴：任何常数都代替不了 −∞
    """
    x = make.keep(torch.tensor([[[1.0], [1.001], [-1.0]]]))
    wq, wk, one = (make.keep(torch.full((1, 1), value)) for value in (180.0, -180.0, 1.0))
    mask = torch.tensor([[True, True, False], [True, True, False], [False, False, True]])
    make.call("multi_head_attention", x, x, wq, wk, one, one, 1, mask, True)


def edge_one_head(make):
    """one head is plain attention between four projections

    只有一个头：四个投影，中间就是普通注意力
    """
    make.call("multi_head_attention", make.normal(2, 3, 5), make.normal(2, 4, 5), *weights(make, 5), 1)


def edge_as_many_heads_as_width(make):
    """H = D: heads of width 1

    H = D：每个头宽 1
    """
    make.call("multi_head_attention", make.normal(2, 3, 5), make.normal(2, 4, 5), *weights(make, 5), 5, None, True)


def edge_one_token(make):
    """one query, one key

    一个 query，一个 key
    """
    make.call("multi_head_attention", make.normal(1, 1, 6), make.normal(1, 1, 6), *weights(make, 6), 3)
    make.call("multi_head_attention", make.normal(3, 1, 6), make.normal(3, 7, 6), *weights(make, 6), 2)


def edge_memory_of_one(make):
    """five queries over a memory of length 1

    五个 query，x_kv 的长度只有 1
    """
    make.call("multi_head_attention", make.normal(2, 5, 6), make.normal(2, 1, 6), *weights(make, 6), 3, None, True)


def edge_fully_masked_rows(make):
    """queries that may see nothing: zero weights, a zero result, zero gradients

    一个 key 也看不到的 query：权重全 0、输出全 0、梯度为 0
    """
    mask = torch.tensor([[True, False, True, True], [False] * 4, [False, True, False, False]])
    arguments = [make.normal(2, 3, 6), make.normal(2, 4, 6), *weights(make, 6)]
    make.call("multi_head_attention", *arguments, 3, mask, True)
    make.call("multi_head_attention", *arguments, 2, torch.zeros(1, 4, dtype=torch.bool), True)


def edge_key_padding(make):
    """a padding mask (B, 1, 1, S); one item of the batch has no key left

    padding 掩码 (B, 1, 1, S)；batch 里有一条一个 key 也不剩
    """
    mask = torch.tensor([[True, True, True, False, False], [False] * 5, [True, False, True, False, True]])
    arguments = [make.normal(3, 5, 6), make.normal(3, 5, 6), *weights(make, 6)]
    make.call("multi_head_attention", *arguments, 2, mask[:, None, None, :], True)


def edge_mask_as_wide_as_the_batch(make):
    """a mask (T, S) where T is also the batch size: it belongs to the queries

    掩码 (T, S) 的 T 恰好等于 batch 大小：这一维仍是 query
    """
    mask = torch.tensor([[True, False, True, True], [False, True, True, False]])
    make.call("multi_head_attention", make.normal(2, 2, 6), make.normal(2, 4, 6), *weights(make, 6), 3, mask, True)


def edge_mask_per_head(make):
    """a mask of its own for every head

    每个头各有自己的掩码
    """
    mask = make.mask(1, 3, 4, 5, keep=0.6)
    make.call("multi_head_attention", make.normal(2, 4, 6), make.normal(2, 5, 6), *weights(make, 6), 3, mask)


def edge_causal_self_attention(make):
    """one tensor as x_q and x_kv under a causal mask

    x_q 和 x_kv 是同一个张量，加因果掩码
    """
    x = make.normal(2, 5, 6)
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    make.call("multi_head_attention", x, x, *weights(make, 6), 2, mask)


def edge_one_head_switched_off(make):
    """zero rows in wo take exactly one head out

    把 wo 的几行清零，正好去掉一个头
    """
    wq, wk, wv, wo = weights(make, 6)
    wo = wo.detach().clone()
    wo[2:4] = 0.0
    make.call(
        "multi_head_attention", make.normal(2, 3, 6), make.normal(2, 4, 6), wq, wk, wv, make.keep(wo, grad=True), 3
    )


def edge_masks_by_item_and_head(make):
    """masks of four dimensions, each of which may be 1: all of them broadcast

    4 维掩码，每一维都可能是 1：全都要能广播
    """
    arguments = [make.normal(3, 4, 6), make.normal(3, 5, 6), *weights(make, 6)]
    for shape in ((3, 3, 1, 5), (3, 3, 1, 1), (1, 3, 1, 5), (3, 1, 4, 1), (3, 1, 4, 5), (1, 3, 4, 1), (1, 1, 1, 1)):
        make.call("multi_head_attention", *arguments, 3, make.mask(*shape, keep=0.6), True)


def edge_masks_of_two_dimensions(make):
    """masks of two dimensions are (T, S) whatever they resemble: here B = H = T

    2 维掩码总是 (T, S)，不管看着像什么：这里 B = H = T
    """
    arguments = [make.normal(3, 3, 6), make.normal(3, 5, 6), *weights(make, 6)]
    for shape in ((3, 5), (3, 1), (1, 5), (1, 1)):
        make.call("multi_head_attention", *arguments, 3, make.mask(*shape, keep=0.6))


def edge_six_heads_of_nine(make):
    """19 queries over 37 keys, then 37 over 37 from elsewhere: no mask means that all is seen

    19 个 query 对 37 个 key，再来 37 对 37，换了来源：没有掩码就是全都看得到
    """
    x_q, x_kv, maps = make.normal(2, 37, 54), make.normal(2, 37, 54), weights(make, 54)
    first = make.keep(x_q.detach()[:, :19].contiguous(), grad=True)
    make.call("multi_head_attention", first, x_kv, *maps, 6, make.mask(2, 1, 1, 37, keep=0.6))
    make.call("multi_head_attention", x_q, x_kv, *maps, 6, None, True)
    make.call("multi_head_attention", x_kv, x_kv, *maps, 18)


def edge_two_calls(make):
    """calls with and without mask, with and without weights, do not meet

    带不带掩码、要不要权重，各次调用互不影响
    """
    arguments = [make.normal(2, 3, 4), make.normal(2, 5, 4), *weights(make, 4)]
    mask = make.mask(3, 5, keep=0.5)
    make.call("multi_head_attention", *arguments, 2, mask, True)
    make.call("multi_head_attention", *arguments, 2, mask)
    make.call("multi_head_attention", *arguments, 2)
    make.call("multi_head_attention", *arguments, 2, mask, True)
    make.call("multi_head_attention", *arguments, 4)


def heads_at(make, n_heads):
    """The same attention of width 32, cut into more and more heads."""
    make.call("multi_head_attention", make.normal(2, 8, 32), make.normal(2, 8, 32), *weights(make, 32), n_heads)


def masked_heads_at(make, n_heads):
    """The same under a mask, with the weights."""
    x = make.normal(2, 8, 32)
    make.call("multi_head_attention", x, x, *weights(make, 32), n_heads, make.mask(8, 8), True)


def few(n_heads):
    """Copies that some widths need and others don't: a loop makes at least one call for every head."""
    return n_heads / 3


_CALLS = {
    "en": "the number of tensor operations grows with the number of heads: a Python loop over the heads",
    "zh": "张量操作的次数随头数增长：用 Python 循环逐头计算",
}
_FLOPS = {
    "en": "the work grows with the number of heads, as if every head worked on the full width",
    "zh": "计算量随头数增长，好像每个头都在整个宽度上计算",
}


def softmax_work(n_heads):
    """Softmax and mask over (B, H, T, S), generously; a full-width product costs 32,768 for every head."""
    return 3_000 * n_heads


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
    for measure, bound, says in (("flops", softmax_work, _FLOPS), ("calls", few, _CALLS))
]
