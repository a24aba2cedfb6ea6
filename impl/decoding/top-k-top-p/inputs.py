"""Distinct logits, flat and peaked, thresholds that no cumulated mass is near, filters alone and together; ties apart."""

from __future__ import annotations

import torch

AXES = {"logits": "B V", "return": "B V"}
SIZES = {"B": (1, 4), "V": (1, 9, 150)}
GRADIENTS = False
HARDENED = {"edge_ties", "edge_sums_in_sixteen_bits"}


def between(make, levels):
    """A number in (0, 1), in the middle of one of the widest gaps between these levels."""
    edges = torch.cat([torch.tensor([0.0, 1.0], dtype=torch.float64), levels.flatten().clamp(0, 1)]).sort().values
    gaps = edges.diff()
    place = int(gaps.topk(min(3, len(gaps))).indices[make.pick([0, 1, 2]) % min(3, len(gaps))])
    return float(edges[place] + gaps[place] * 0.5)


def thresholds(make, logits, top_k, temperature):
    """top_p and min_p that rounding does not decide."""
    best = (logits.detach().double() / temperature).sort(-1, descending=True).values
    probs = best[:, : top_k or None].softmax(-1)
    return between(make, probs.cumsum(-1)), between(make, probs / probs[:, :1])


def case(make):
    B, V = make.sizes("B", "V")
    logits = make.spread(B, V, grad=False) * make.pick([1.0, 4.0, 0.2])
    logits = make.keep(logits - logits.mean(-1, keepdim=True) * (V > 1))
    if V > 2 and make.flag():
        logits[:, make.size(0, V - 1)] = -torch.inf
    temperature, top_k = make.pick([1.0, 0.5, 2.0]), make.pick([None, 2, max(1, V - 1), 0, V + 3, 1])
    top_p, min_p = thresholds(make, logits, top_k, temperature)
    top_p, min_p = make.pick([(top_p, None), (top_p, min_p), (None, min_p), (1.0, None), (None, None), (0.0, 0.0)])
    make.call("filter_logits", logits, top_k=top_k, top_p=top_p, min_p=min_p, temperature=temperature)


def edge_a_sure_token(make):
    """one token holds nearly all the mass, or p is tiny: one stays

    一个 token 占了几乎全部概率，或者 p 极小：至少留一个
    """
    sure = make.keep(torch.tensor([[0.0, 50.0, 1.0, -3.0], [9.0, 1.0, 0.5, 30.0]]))
    flat = make.keep(torch.tensor([[0.5, 0.75, 0.25, 0.0], [1.0, 0.5, 1.5, 2.0]]))
    for top_p in (0.5, 0.9, 1e-9):
        make.call("filter_logits", sure, None, top_p)
        make.call("filter_logits", flat, 3, min(top_p, 1e-6))
    make.call("filter_logits", flat, None, None, 1.0)


def edge_order_of_the_filters(make):
    """top_p after top_k counts the mass of what is left; temperature comes before both

    top_k 之后的 top_p 按剩下的概率算；温度在两者之前
    """
    logits = make.keep(torch.tensor([[0.5, 0.25, 0.12, 0.08, 0.05], [0.1, 0.3, 0.07, 0.45, 0.08]]).log())
    for top_k, top_p, temperature in (
        (2, 0.63, 1.0),
        (3, 0.8, 1.0),
        (None, 0.6, 0.5),
        (None, 0.6, 3.0),
        (4, 0.9, 2.0),
        (2, 0.7, 0.4),
    ):
        make.call("filter_logits", logits, top_k, top_p, None, temperature)
        make.call("filter_logits", logits, top_k, None, 0.3, temperature)


def edge_masked_and_far_apart(make):
    """given −inf stays; logits of ±10⁴; all logits near −500; k larger than what is left

    传进来的 −inf 保持不变；logits 为 ±10⁴；全部 logits 在 −500 附近；k 比剩下的还多
    """
    inf = torch.inf
    for rows in (
        [[-inf, 1.0, -inf, 0.0], [2.0, -inf, 1.0, 0.5]],
        [[1e4, -1e4, 9998.0, 0.0]],
        [[-500.0, -501.0, -500.5, -503.0]],
    ):
        for settings in (
            {"top_k": 3},
            {"top_k": 9},
            {"top_p": 0.95},
            {"min_p": 0.2},
            {"top_k": 3, "top_p": 0.99, "min_p": 0.01},
        ):
            make.call("filter_logits", make.keep(torch.tensor(rows)), **settings)


def edge_ties(make):
    """equal logits: exactly k stay, those of the lowest ids

    logits 相等：恰好留 k 个，取 id 最小的
    """
    for rows in ([[1.0, 2.0, 2.0, 2.0, 0.0], [3.0, 3.0, 3.0, 3.0, 3.0]], [[0.0] * 40]):
        for settings in ({"top_k": 2}, {"top_k": 1}, {"top_p": 0.56}, {"top_k": 3, "top_p": 0.5}):
            make.call("filter_logits", make.keep(torch.tensor(rows)), **settings)


def edge_sums_in_sixteen_bits(make):
    """400 small probabilities in 16 bits: their sum is that of float32

    16 位的 400 个小概率：累加要用 float32
    """
    for dtype in (torch.bfloat16, torch.float16):
        row = torch.cat([torch.tensor([4.0, 3.5]), torch.arange(400) / -400.0])[None].to(dtype)
        for top_p in (0.61, 0.83):
            make.call("filter_logits", make.keep(row, dtype="fixed"), None, top_p)
