"""Drifts of every size, answers of unequal length, values at masked tokens that must not matter."""

from __future__ import annotations

import torch

AXES = {"train_logp": "N T", "rollout_logp": "N T", "mask": "N T", "return": "N T"}
SIZES = {"N": (1, 4, 70), "T": (1, 6, 150)}
TOLERANCE = {"float32": 1e-6, "float64": 1e-6}
HARDENED = {"edge_dtypes"}
_LEVELS = ("token", "sequence", "geometric")
_MODES = ("truncate", "mask")


def ratios(delta, mask, level):
    delta = delta.masked_fill(~mask, 0.0)
    if level != "token":
        delta = delta.sum(1, keepdim=True) / (mask.sum(1, keepdim=True).clamp(min=1) if level == "geometric" else 1)
    return delta


def drawn(make, mask, level, cap, scale):
    """Log-probabilities in the dtype of the case; no ratio is near the cap."""
    rollout = -torch.rand(mask.shape, generator=make.random, dtype=torch.float64) * 5
    delta = torch.randn(mask.shape, generator=make.random, dtype=torch.float64) * scale
    if make.dtype.itemsize == 2:  # on a grid that 16 bits hold
        rollout, delta = (rollout * 8).round() / 8, (delta * 8).round() / 8
    for _ in range(50):
        train, rollout = (x.to(make.dtype).double() for x in (rollout + delta, rollout))
        near = (ratios(train - rollout, mask, level) - torch.tensor(cap, dtype=torch.float64).log()).abs() < 1e-2
        if not bool(near.any()):
            break
        delta = torch.where(near.expand(delta.shape), delta + 0.125, delta)
    return make.keep(train, grad=True), make.keep(rollout, grad=True)


def case(make):
    N, T = make.sizes("N", "T")
    level, mode, cap = make.pick(_LEVELS), make.pick(_MODES), make.pick([2.0, 1.05, 5.0, 0.3, 1e4])
    mask = torch.rand((N, T), generator=make.random) < make.pick([0.7, 1.0, 0.3])
    args = drawn(make, mask, level, cap, make.pick([0.5, 1.0, 3.0]))
    make.call("rollout_weights", *args, mask.to(make.pick([torch.bool, torch.int64, torch.float32])), level, mode, cap)


def rows(make, delta, mask, cap=2.0, levels=_LEVELS):
    """Call with the given differences in every level and mode."""
    delta = torch.tensor(delta)
    rollout = -2.0 * torch.ones(delta.shape)
    for level in levels:
        for mode in _MODES:
            args = make.keep(rollout + delta, grad=True), make.keep(rollout, grad=True)
            make.call("rollout_weights", *args, torch.tensor(mask).bool(), level, mode, cap)


def edge_no_tokens(make):
    """a row without tokens, and nothing else; one token

    一行里没有 token，或全都没有；只有一个 token
    """
    rows(make, [[0.5, -0.5, 1.0], [1.5, 0.25, -1.0]], [[0, 0, 0], [1, 0, 1]])
    rows(make, [[0.5, -0.5]], [[0, 0]])
    rows(make, [[0.5], [3.0], [-3.0]], [[1], [1], [1]])


def edge_short_answers(make):
    """short answers in long rows: the mean is over tokens, not over the padding

    长行里的短回答：均值按 token 数算，不按填充后的长度
    """
    rows(make, [[0.5, 0.25, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, -1.5]], [[1, 1, 0, 0, 0, 0], [0] * 5 + [1]])


def edge_ratios_that_overflow(make):
    """δ of ±10⁴: e^δ is ∞ or 0, the weight cap or 0, nothing NaN

    δ 为 ±10⁴：e^δ 是 ∞ 或 0，权重是 cap 或 0，不能出 NaN
    """
    far = [[1e4, 0.5, -0.5], [-1e4, 0.25, 1.0], [100.0, 100.0, -0.5], [-200.0, -100.0, 0.5]]
    for cap in (2.0, 1e4):
        rows(make, far, [[1, 1, 1]] * 4, cap)


def edge_masked_values(make):
    """masked tokens of ±10³⁰ and differences of 500: no influence

    被屏蔽的 token 取 ±10³⁰，或相差 500：不影响结果
    """
    rows(make, [[0.5, 1e30, -0.25], [-1e30, 0.25, 1e30], [500.0, -0.5, -500.0]], [[1, 0, 1], [0, 1, 0], [0, 1, 0]])


def edge_far_below(make):
    """weights of 0.02 and below are not changed

    权重小到 0.02 甚至更小，也保持原样
    """
    rows(make, [[-4.0, -1.0, -0.5], [-2.0, -2.0, 0.0]], [[1, 1, 1], [1, 1, 0]], 1.5)


def edge_dtypes(make):
    """long rows in 16 bits; 16 bits and float32 together: the result has the dtype of the trainer's

    16 位的长行；训练器与引擎一个 16 位、一个 float32：结果的 dtype 跟训练器的一致
    """
    train, rollout = -0.01 * torch.rand(9, 7, generator=make.random), -1.2 * torch.rand(9, 7, generator=make.random)
    for level in _LEVELS:  # sums near 4, which bfloat16 holds to 1/32
        args = (make.keep(x.bfloat16(), dtype="fixed") for x in (train, rollout))
        make.call("rollout_weights", *args, torch.ones(9, 7).bool(), level, "truncate", 1e4)
    for train, rollout in (
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.bfloat16),
        (torch.float16, torch.float32),
    ):
        a, b = torch.tensor([[-1.003, -20.125, -3.0]]).to(train), torch.tensor([[-1.2503, -20.5, -2.5]]).to(rollout)
        for level in _LEVELS:
            args = (make.keep(x, dtype="fixed") for x in (a, b))
            make.call("rollout_weights", *args, torch.ones(1, 3).bool(), level, "truncate", 5.0)
