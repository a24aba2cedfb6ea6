"""Queries, keys and values of unequal sizes, masks of every broadcastable shape, scales that are not the default."""

from __future__ import annotations

import torch

AXES = {"q": "... T d", "k": "... S d", "v": "... S dv", "mask": "... T S", "return": "... T dv"}
FLOAT32_INSIDE = True  # 16-bit results are float32 results, rounded once
LARGE = 10.0  # q and k both grow, so the logits reach ±200 and more
PROFILES = {"stable": ["large"]}
HARDENED = {"edge_scale_zero", "edge_negative_scale", "edge_visible_scores_very_low"}


def mask_for(make, lead, T, S):
    """A mask that broadcasts to (*lead, T, S); now and then a row of it is empty."""
    shapes = [(T, S), (*lead, T, S), (1, S), (T, 1), (S,), (*[1] * len(lead), T, S)]
    if lead:
        shapes.append((lead[0], *[1] * len(lead), S))
    return make.mask(*make.pick(shapes), keep=make.pick([0.6, 0.9, 0.3]))


def case(make):
    T, S, d, dv = make.size(1, 5), make.size(1, 7), make.size(1, 6), make.size(1, 5)
    lead = make.pick([(2,), (), (2, 3), (3, 1, 2)])
    q, k, v = make.normal(*lead, T, d), make.normal(*lead, S, d), make.normal(*lead, S, dv)
    if make.profile == "meta":
        every_branch(make, q, k, v, mask_for(make, lead, T, S))
        return
    mask = mask_for(make, lead, T, S) if make.flag() else None
    style = make.pick(["default", "scale", "keyword", "positional"])
    if style == "default" and mask is None:
        make.call("sdpa", q, k, v)
    elif style == "default":
        make.call("sdpa", q, k, v, mask)
    elif style == "scale":
        make.call("sdpa", q, k, v, mask, scale=make.pick([0.3, 2.0, 1.0, 0.05]))
    elif style == "keyword":
        make.call("sdpa", q, k, v, mask=mask)
    else:
        make.call("sdpa", q, k, v, mask, make.pick([0.25, 2.0, None]))


def every_branch(make, q, k, v, mask):
    """All the ways to call it, for checks that draw few cases."""
    make.call("sdpa", q, k, v)
    make.call("sdpa", q, k, v, mask)
    make.call("sdpa", q, k, v, None, 0.5)
    make.call("sdpa", q, k, v, mask, scale=0.5)


def edge_one_key(make):
    """one key: its value is the answer, whatever the score

    只有一个 key：不管分数多少，输出就是它的 value
    """
    make.call("sdpa", make.normal(2, 3, 4), make.normal(2, 1, 4), make.normal(2, 1, 2))


def edge_one_query(make):
    """one query over seven keys, values wider than keys

    一个 query、七个 key，value 比 key 宽
    """
    make.call("sdpa", make.normal(1, 3), make.normal(7, 3), make.normal(7, 5))


def edge_width_one(make):
    """heads of width 1, and as many keys as queries

    头宽为 1，key 和 query 一样多
    """
    make.call("sdpa", make.normal(2, 4, 1), make.normal(2, 4, 1), make.normal(2, 4, 1))


def edge_fully_masked_rows(make):
    """queries that may see nothing get zeros and a zero gradient; their neighbours stay right

    一个 key 也看不到的 query 输出全 0、梯度为 0，其余的行照样要对
    """
    mask = torch.tensor(
        [[True, False, True, True, False], [False] * 5, [False, False, True, False, False], [False] * 5]
    )
    make.call("sdpa", make.normal(2, 4, 3), make.normal(2, 5, 3), make.normal(2, 5, 2), mask)
    make.call("sdpa", make.normal(4, 3), make.normal(5, 3), make.normal(5, 2), torch.zeros(4, 5, dtype=torch.bool))


def edge_mask_of_one_sequence(make):
    """a padding mask (B, 1, S) for a batch: one item has no key left

    一个 batch 的 padding 掩码 (B, 1, S)：其中一条一个 key 也不剩
    """
    mask = torch.tensor([[True, True, False], [False, False, False], [True, False, True]])[:, None]
    make.call("sdpa", make.normal(3, 2, 4), make.normal(3, 3, 4), make.normal(3, 3, 2), mask)


def edge_mask_per_query(make):
    """a mask (T, 1) that switches whole queries off

    掩码 (T, 1)：让整个 query 什么都看不到
    """
    mask = torch.tensor([[True], [False], [True]])
    make.call("sdpa", make.normal(2, 3, 4), make.normal(2, 5, 4), make.normal(2, 5, 3), mask)


def edge_scale_zero(make):
    """scale=0.0 is a scale: every visible key gets the same weight

    scale=0.0 也算数：看得到的 key 权重都相同
    """
    q, k, v = make.normal(2, 3, 4), make.normal(2, 5, 4), make.normal(2, 5, 2)
    make.call("sdpa", q, k, v, None, 0.0)
    make.call("sdpa", q, k, v, make.mask(3, 5), scale=0.0)


def edge_hidden_key_leads(make):
    """the hidden key would win by 200: nothing of it may remain

    被挡的 key 本来会领先 200：不能留下任何影响
    """
    q = torch.tensor([[20.0, 0.0], [-20.0, 1.0]])
    k = torch.tensor([[10.0, 0.0], [-5.0, 0.5], [-4.9, -0.5]])
    mask = torch.tensor([[False, True, True], [True, False, True]])
    v = make.normal(3, 2)
    make.call("sdpa", make.keep(q, grad=True), make.keep(k, grad=True), v, mask, 1.0)


def edge_visible_scores_very_low(make):
    """visible scores near −2·10⁴ or −10³⁰ and a hidden one far above: no finite mask value is low enough

    可见分数约 −2·10⁴ 或 −10³⁰，被挡的高得多：填任何有限值都不够低
    """
    for q, k in (([[200.0]], [[-100.0], [-100.005], [100.0]]), ([[1e15]], [[-1e15], [1e15]])):
        v = make.normal(len(k), 2, grad=False)
        v[-1] += 1e4  # whatever leaks shows
        mask = torch.tensor([[True] * (len(k) - 1) + [False]])
        arguments = [make.keep(torch.tensor(q)), make.keep(torch.tensor(k)), make.keep(v)]
        make.call("sdpa", *arguments, mask, 1.0)


def edge_logits_200(make):
    """logits of ±200: exp of them overflows

    logits 为 ±200：直接取 exp 会溢出
    """
    q = torch.tensor([[200.0, 0.0], [-200.0, 0.0], [0.5, 1.0]])
    k = torch.tensor([[1.0, 0.25], [-1.0, 0.5], [0.995, -1.0], [0.0, 0.0]])
    make.call("sdpa", make.keep(q, grad=True), make.keep(k, grad=True), make.normal(4, 3), None, 1.0)


def edge_float16_scores_overflow(make):
    """float16 inputs whose scores pass 65 504: float32 inside keeps them apart

    float16 输入，分数超过 65 504：在 float32 里计算才分得开
    """
    q = torch.full((2, 8), 120.0).half()
    k = torch.full((3, 8), 110.0).half()
    k[1] -= 2.0
    k[2] = -k[2]
    v = torch.tensor([[1.0, 2.0], [3.0, -4.0], [-5.0, 6.0]]).half()
    mask = torch.tensor([[True, True, True], [False, True, True]])
    fixed = [make.keep(t, dtype="fixed") for t in (q, k, v)]
    make.call("sdpa", *fixed, mask)
    make.call("sdpa", *fixed)


def edge_bfloat16_scores(make):
    """bfloat16 inputs with scores around 1000: rounded to bfloat16 they would tie

    bfloat16 输入，分数约 1000：舍入到 bfloat16 就会打平
    """
    q = torch.full((1, 16), 8.0).bfloat16()
    k = torch.full((4, 16), 8.0).bfloat16()
    k[1, 0] = 8.0625
    k[2, :2] = 8.0625
    k[3, :4] = 8.0625
    v = torch.tensor([[1.0, -1.0], [-2.0, 2.0], [3.0, -8.0], [-4.0, 4.0]]).bfloat16()
    fixed = [make.keep(t, dtype="fixed") for t in (q, k, v)]
    make.call("sdpa", *fixed, None, 1.0)
    make.call("sdpa", *fixed, torch.tensor([[True, True, False, True]]), 1.0)


def edge_masks_of_every_rank(make):
    """masks with fewer dimensions than the scores are aligned from the right: (T, S), (H, T, S), (H, 1, S)

    维数比分数少的掩码从右边对齐：(T, S)、(H, T, S)、(H, 1, S)
    """
    q, k, v = make.normal(3, 3, 4, 2), make.normal(3, 3, 5, 2), make.normal(3, 3, 5, 3)
    for shape in ((5,), (1,), (4, 1), (3, 4, 5), (3, 1, 5), (3, 1, 1)):
        make.call("sdpa", q, k, v, make.mask(*shape, keep=0.6))


def edge_masks_of_one_dimension_each(make):
    """masks that differ by item, by head, by query or by all of them

    掩码随样本、随头或随 query 而不同，或者三者都不同
    """
    q, k, v = make.normal(3, 3, 4, 2), make.normal(3, 3, 5, 2), make.normal(3, 3, 5, 3)
    for shape in ((3, 1, 1, 5), (3, 1, 4, 5), (1, 3, 4, 1), (3, 3, 1, 1), (1, 1, 1, 5), (3, 3, 4, 5)):
        make.call("sdpa", q, k, v, make.mask(*shape, keep=0.6))


def edge_five_leading_dimensions(make):
    """five leading dimensions, with and without a mask

    五个前导维度，带掩码和不带掩码
    """
    lead = (2, 1, 3, 1, 2)
    q, k, v = make.normal(*lead, 3, 2), make.normal(*lead, 4, 2), make.normal(*lead, 4, 3)
    make.call("sdpa", q, k, v)
    make.call("sdpa", q, k, v, make.mask(3, 1, 1, 3, 4, keep=0.6))
    make.call("sdpa", q, k, v, make.mask(*lead, 1, 4, keep=0.6), scale=-0.7)


def edge_many_wide_tokens(make):
    """70 queries, 150 keys, a width of 72: more than any block or table holds

    70 个 query、150 个 key、宽 72：任何分块、任何表都装不下
    """
    # One long side at a time: a solution that loops over all of them has no thousands of pairs to go through.
    for T, S, d, dv in ((70, 3, 4, 2), (2, 150, 3, 2), (3, 5, 72, 67)):
        q, k, v = make.normal(2, T, d, scale=0.7), make.normal(2, S, d), make.normal(2, S, dv)
        make.call("sdpa", q, k, v)
        make.call("sdpa", q, k, v, make.mask(T, S, keep=0.6))


def edge_negative_scale(make):
    """scale=-1 over scores of ±200: the largest score is the smallest one

    scale=-1，分数到 ±200：最大的分数成了最小的
    """
    q = torch.tensor([[20.0, 0.0], [-20.0, 5.0], [1.0, 1.0]])
    k = torch.tensor([[10.0, 1.0], [-10.0, 2.0], [9.9, 0.0], [-9.9, -1.0]])
    args = make.keep(q, grad=True), make.keep(k, grad=True), make.normal(4, 3)
    make.call("sdpa", *args, scale=-1.0)
    make.call("sdpa", *args, torch.ones(3, 4, dtype=torch.bool).tril(1), -1.0)


def edge_heads_cut_out_of_a_projection(make):
    """heads as a view of (B, T, H, d): neither dimension can be merged with its neighbour

    头是 (B, T, H, d) 的视图：哪两个相邻的维度都不能合并
    """
    q, k, v = (make.normal(2, n, 3, d).transpose(1, 2) for n, d in ((4, 2), (5, 2), (5, 3)))
    arguments = [make.keep(t, grad=True) for t in (q, k, v)]
    make.call("sdpa", *arguments)
    make.call("sdpa", *arguments, make.mask(2, 1, 4, 5, keep=0.6))


def edge_same_tensor_three_times(make):
    """one tensor as query, key and value

    query、key、value 是同一个张量
    """
    x = make.normal(2, 5, 3)
    make.call("sdpa", x, x, x)


def edge_two_calls(make):
    """calls of equal shape, masked and not, do not meet

    形状相同的几次调用互不影响，有的带掩码，有的不带
    """
    q, k, v = make.normal(3, 4), make.normal(5, 4), make.normal(5, 2)
    make.call("sdpa", q, k, v, make.mask(3, 5, keep=0.5))
    make.call("sdpa", q, k, v)
    make.call("sdpa", q, k, v, make.mask(3, 5, keep=0.5))
