"""Every switch with every other, ratios on both sides of both bounds, answers of unequal length, masked tokens far out."""

from __future__ import annotations

from itertools import product

import torch

AXES = {"logp": "N T", "old_logp": "N T", "adv": "N", "mask": "N T"}
SIZES = {"N": (1, 4, 70), "T": (1, 6, 150)}
HARDENED = {"edge_masked_values"}
WITHOUT_MOTIFS = {"same"}  # the old policy's gradient is nobody's business, whatever tensor it is
_RATIOS, _AGGREGATIONS, _CISPO = ("token", "sequence"), ("token", "sequence", "const"), (False, True)


def settings(make):
    return {
        "ratio": make.pick(_RATIOS),
        "clip_low": make.pick([0.2, 0.1, 0.4]),
        "clip_high": make.pick([0.2, 0.28, 0.6]),
        "agg": make.pick(_AGGREGATIONS),
        "cispo": make.pick(_CISPO),
        "max_len": make.pick([None, 9, 200]),
    }


def off_the_kinks(make, mask, ratio, bounds, scale):
    """Log-probabilities, in the dtype of the case, whose ratios are not near the bounds or 1."""
    counted = mask.double()
    old = -torch.rand(mask.shape, generator=make.random, dtype=torch.float64) * 4
    delta = torch.randn(mask.shape, generator=make.random, dtype=torch.float64) * scale
    for _ in range(50):
        logp, old = (x.to(make.dtype).double() for x in (old + delta, old))
        d = (logp - old) * counted
        if ratio == "sequence":
            d = (d.sum(1, keepdim=True) / counted.sum(1, keepdim=True).clamp(min=1)).expand(mask.shape)
        near = torch.stack([(d.exp() - bound).abs() < 0.02 for bound in bounds]).any(0) & mask
        if not bool(near.any()):
            break
        delta = torch.where(near, delta + 0.09375, delta)
    return make.keep(logp, grad=True), make.keep(old)


def case(make):
    N, T = make.sizes("N", "T")
    options = settings(make)
    mask = torch.rand((N, T), generator=make.random) < make.pick([0.7, 1.0, 0.3])
    bounds = 1 - options["clip_low"], 1 + options["clip_high"]
    logp, old = off_the_kinks(make, mask, options["ratio"], bounds, make.pick([0.3, 0.8]))
    adv = make.keep(torch.randn((N,), generator=make.random, dtype=torch.float64))
    mask = mask.to(make.pick([torch.bool, torch.int64, torch.float32]))
    make.call("policy_loss", logp, old, adv, mask, **options)


def rows(make, delta, mask, adv=(1.0, -2.0), **options):
    """Call with the given differences under every combination of switches."""
    delta = torch.tensor(delta, dtype=torch.float64)
    old = -2.0 - torch.arange(delta.numel()).reshape(delta.shape) / 8
    for ratio, agg, cispo in product(_RATIOS, _AGGREGATIONS, _CISPO):
        args = make.keep(old + delta, grad=True), make.keep(old), make.keep(torch.tensor(adv[: len(delta)]))
        make.call("policy_loss", *args, torch.tensor(mask).bool(), ratio, agg=agg, cispo=cispo, **options)


def edge_both_bounds(make):
    """ratios beyond either bound with an advantage of either sign; unequal bounds

    比值越过上界或下界，优势有正有负；上下界不相等
    """
    delta = [[1.0, -1.0, 0.25, -0.125], [1.0, -1.0, 0.25, -0.125]]
    rows(make, delta, [[1, 1, 1, 1]] * 2, clip_low=0.1, clip_high=0.5)
    rows(make, [[0.5, 0.75], [0.5, 0.75]], [[1, 1]] * 2, clip_low=0.3, clip_high=0.28)
    rows(make, [[-0.5, -0.75], [-0.5, -0.75]], [[1, 1]] * 2, clip_low=0.2, clip_high=0.4)


def edge_answers_of_unequal_length(make):
    """an answer of one token beside one of five, and one without tokens: how much each one counts

    一个 token 的回答、五个 token 的回答、没有 token 的回答放在一起：各占多少权重
    """
    mask = [[1, 0, 0, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]]
    delta = [[0.25, 0.5, 0.0, 0.0, 0.0], [0.5, -0.25, 0.125, 0.0625, -0.5], [1.0, 1.0, 1.0, 1.0, 1.0]]
    rows(make, delta, mask, (1.0, -2.0, 3.0))
    rows(make, delta, mask, (-1.0, 2.0, 3.0), max_len=12)


def edge_no_token(make):
    """no token at all: 0, and zero gradients

    一个 token 都没有：结果为 0，梯度为 0
    """
    rows(make, [[0.5, -0.5], [0.25, 0.0]], [[0, 0], [0, 0]])


def edge_masked_values(make):
    """masked tokens of ±10³⁰, and ratios that overflow there: no influence, no NaN

    被屏蔽的 token 为 ±10³⁰，那里的比值会溢出：不影响结果，也不出 NaN
    """
    rows(make, [[0.25, 1e30, -0.125], [-1e30, 0.5, 1e30]], [[1, 0, 1], [0, 1, 0]])
    rows(make, [[0.25, 200.0, -200.0], [500.0, 0.5, -500.0]], [[1, 0, 0], [0, 1, 0]])


def edge_long_answers(make):
    """sixty tokens that each drift a little: the mean of the log ratios stays small, their sum does not

    六十个 token 各偏一点：对数比值的均值很小，总和却很大
    """
    rows(make, [[0.0625] * 60, [-0.0625] * 60], [[1] * 60] * 2)
