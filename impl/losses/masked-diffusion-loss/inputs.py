"""Rows with many, few and no hidden tokens, rates from small to 1, visible logits that must not matter."""

from __future__ import annotations

import torch

AXES = {"logits": "B T V", "ids": "B T", "mask": "B T", "t": "B"}
SIZES = {"B": (1, 4, 70), "T": (1, 6, 150), "V": (1, 7, 300)}
LARGE = 1e4
PROFILES = {"stable": ["large"]}


def rates(make, *values):
    """Rates that 16 bits hold exactly enough: the loss is judged for the rates as given."""
    return make.keep(torch.tensor(values, dtype=torch.float64))


def case(make):
    B, T, V = make.sizes("B", "T", "V")
    hidden = torch.rand((B, T), generator=make.random) < make.pick([0.5, 0.9, 0.2, 0.0])
    t = 0.05 + 0.95 * torch.rand((B,), generator=make.random, dtype=torch.float64)
    t[~hidden.any(dim=1) & (torch.rand((B,), generator=make.random) < 0.5)] = 0.0
    logits = make.argument("logits", scale=make.pick([1.0, 4.0]))
    make.call("mdlm_loss", logits, make.integers(0, V, B, T), hidden, make.keep(t))


def edge_nothing_hidden(make):
    """nothing hidden, with t = 0 or not: 0, and zero gradients

    一个都没遮住，t 是不是 0 都一样：结果为 0，梯度为 0
    """
    ids, mask = make.integers(0, 5, 3, 4), torch.zeros(3, 4, dtype=torch.bool)
    for t in ((0.0, 0.0, 0.0), (0.5, 0.0, 1.0), (0.25, 0.5, 0.75)):
        make.call("mdlm_loss", make.normal(3, 4, 5), ids, mask, rates(make, *t))


def edge_a_row_without_masks(make):
    """a row with t = 0 beside others: it counts 0, and stays in B·T

    某一行 t = 0，其他行照常：它贡献 0，但仍算在 B·T 里
    """
    mask = torch.tensor([[True, False, True], [False, False, False], [False, True, True]])
    make.call("mdlm_loss", make.normal(3, 3, 6), make.integers(0, 6, 3, 3), mask, rates(make, 0.5, 0.0, 0.25))


def edge_small_rates(make):
    """rates of 10⁻³ and 10⁻⁵ are used as given; so is t = 1

    遮盖率 10⁻³、10⁻⁵ 传多少用多少，t = 1 也一样
    """
    mask = torch.tensor([[False, True, False, False]] * 4)
    t = rates(make, 2.0**-10, 2.0**-17, 1.0, 0.125)
    make.call("mdlm_loss", make.normal(4, 4, 5), make.integers(0, 5, 4, 4), mask, t)


def edge_visible_logits_far_out(make):
    """visible places hold logits of ±10³⁰: no influence, no NaN in the gradients

    可见位置的 logits 达到 ±10³⁰：不影响结果，梯度里没有 NaN
    """
    mask = torch.tensor([[True, False, True], [False, True, False]])
    for size in (1e4, 1e30):
        far = torch.where(mask[..., None], 1.0, size).double() * make.normal(2, 3, 4, grad=False).double()
        make.call("mdlm_loss", make.keep(far, grad=True), make.integers(0, 4, 2, 3), mask, rates(make, 0.5, 0.75))


def edge_sums_in_16_bits(make):
    """16-bit losses whose sum exceeds 65 504, or in which late places would vanish

    16 位的损失，总和超过 65504，或者后面的位置会加不进去
    """
    mask = torch.ones(2, 600, dtype=torch.bool)
    for dtype, t in ((torch.float16, 0.0625), (torch.bfloat16, 1.0)):
        logits = (make.normal(2, 600, 3, grad=False) * 8).to(dtype)
        tensors = (make.keep(x, dtype="fixed") for x in (logits, torch.full((2,), t).to(dtype)))
        logits, rate = tensors
        make.call("mdlm_loss", logits, make.integers(0, 3, 2, 600), mask, rate)
