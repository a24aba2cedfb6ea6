"""Queries, keys and values of unequal sizes, masks of every broadcastable shape, scales that are not the default."""

from __future__ import annotations

import torch

AXES = {"q": "... T d", "k": "... S d", "v": "... S dv", "mask": "... T S", "return": "... T dv"}
SIZES = {"T": (1, 5, 70), "S": (1, 7, 150), "d": (1, 6, 72), "dv": (1, 5, 67)}
LARGE = 10.0  # q and k both grow, so the logits reach ±200 and more
PROFILES = {"stable": ["large"]}
HARDENED = {"edge_scale_zero_or_negative", "edge_visible_scores_far_below"}


def case(make):
    q, k = make.queries_and_keys()
    mask = make.optional_mask(*make.lead(), *make.sizes("T", "S"))
    make.call("sdpa", q, k, make.argument("v"), mask, scale=make.pick([None, 0.3, None, 2.0]))


def edge_hidden_key_leads(make):
    """a masked key that scores 200 higher must have no influence

    被掩码的 key 分数再高 200 也不得影响结果
    """
    q = torch.tensor([[20.0, 0.0], [-20.0, 1.0]])
    k = torch.tensor([[10.0, 0.0], [-5.0, 0.5], [-4.9, -0.5]])
    mask = torch.tensor([[False, True, True], [True, False, True]])
    make.call("sdpa", make.keep(q, grad=True), make.keep(k, grad=True), make.normal(3, 2), mask, 1.0)


def edge_visible_scores_far_below(make):
    """visible scores of −10³⁰ and a hidden one far above: no finite mask value is low enough

    可见分数为 −10³⁰，被掩码的高得多：填任何有限值都不够低
    """
    v = make.normal(2, 2, grad=False)
    v[-1] += 1e4  # whatever leaks shows
    q, k = torch.tensor([[1e15]]), torch.tensor([[-1e15], [1e15]])
    make.call("sdpa", make.keep(q), make.keep(k), make.keep(v), torch.tensor([[True, False]]), 1.0)


def edge_scale_zero_or_negative(make):
    """scale = 0.0 and −1 are scales, over scores of ±200 too

    scale 为 0.0 或 −1 也算数，分数到 ±200 也一样
    """
    q = torch.tensor([[20.0, 0.0], [-20.0, 5.0], [1.0, 1.0]])
    k = torch.tensor([[10.0, 1.0], [-10.0, 2.0], [9.9, 0.0], [-9.9, -1.0]])
    args = make.keep(q, grad=True), make.keep(k, grad=True), make.normal(4, 3)
    for scale in (-1.0, 0.0):
        make.call("sdpa", *args, scale=scale)
        make.call("sdpa", *args, torch.ones(3, 4, dtype=torch.bool).tril(1), scale)
