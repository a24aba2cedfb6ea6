"""Runs of good and bad steps on one scaler or two; the scaled loss shows the scale, the list the resulting gradients."""

from __future__ import annotations

import math

import torch

SIZES = {"n": (1, 4, 200), "tensors": (1, 3), "steps": (1, 8)}
_ODD = (math.inf, -math.inf, math.nan)


def case(make):
    """One scaler or two with short intervals; two get different steps."""
    scalers = [scaler(make) for _ in range(make.pick([1, 2]))]
    share_of_bad = make.pick([0.0, 0.3, 0.7])
    for _ in range(make.size("steps")):
        for one in scalers:
            grads = [make.normal(make.size("n"), grad=False) for _ in range(make.size("tensors"))]
            if make.real(0, 1) < share_of_bad:
                spoilt = grads[int(make.integers(0, len(grads), 1))]
                spoilt[int(make.integers(0, len(spoilt), 1))] = _ODD[int(make.integers(0, 3, 1))]
            one_step(make, one, grads)


def scaler(make):
    return make.new(
        "DynamicScaler",
        init=make.pick([2.0**16, 8.0, 1024.0]),
        growth=make.pick([2.0, 4.0, 1.5]),
        backoff=make.pick([0.5, 0.25]),
        interval=make.pick([2, 1, 3, 4]),
    )


def one_step(make, scaler, grads):
    """Scale a loss, step with a list of gradients, update the scale."""
    loss = torch.randn((), generator=make.random, dtype=torch.float64) * 3
    wide = make.dtype if make.dtype.itemsize > 2 else torch.float32
    make.method(scaler, "scale", make.keep(loss.to(wide), grad=True, dtype="fixed" if wide != make.dtype else "follow"))
    make.method(scaler, "step", make.shared([make.keep(g) for g in grads]))
    make.compare(make.method(scaler, "update"), False)


def sequence(make, kinds, *settings):
    """One scaler over good steps (.) and bad ones (x)."""
    one = make.new("DynamicScaler", *settings)
    for kind in kinds:
        grads = [torch.tensor([[4.0, -2.0], [1.0, 0.5]]), torch.tensor(3.0), torch.tensor([8.0])]
        if kind == "x":
            grads[2][0] = math.inf
        one_step(make, one, grads)


def edge_the_scale_moves_in_update_alone(make):
    """a loss scaled before a bad step, after it, and after its update: only the update halves the scale

    溢出的一步之前、之后、update 之后各缩放一次损失：只有 update 会减半
    """
    one = make.new("DynamicScaler", 16.0, 2.0, 0.5, 2)
    for bad in (math.inf, 1.0, 1.0):
        for act in ("step", "update"):
            make.method(one, "scale", make.keep(torch.tensor(3.0), grad=True))
            if act == "step":
                make.method(one, "step", make.shared([make.keep(torch.tensor([2.0, bad]))]))
            else:
                make.compare(make.method(one, "update"), False)
    make.method(one, "scale", make.keep(torch.tensor(3.0), grad=True))


def edge_finite_numbers_whose_sum_is_not(make):
    """gradients near 3·10³⁸: each is finite, their sum and their norm are not

    梯度约 3·10³⁸：每个数都有限，和与范数却溢出
    """
    one = make.new("DynamicScaler", 8.0, 2.0, 0.5, 2)
    row = torch.tensor([3e38, 2e38, 3e38])
    for grads in ([row, torch.ones(2)], [torch.ones(2), -row]):
        make.method(one, "step", make.shared([make.keep(g, dtype="fixed") for g in grads]))
        make.compare(make.method(one, "update"), False)


def edge_default_settings(make):
    """defaults: 2¹⁶, and half of it after an overflow

    什么都不传：初值 2¹⁶，溢出一次减半
    """
    sequence(make, "..x.x.")


def edge_grows_at_the_interval(make):
    """the interval-th good step in a row raises the scale, and the count restarts

    连续第 interval 个正常步放大，然后重新计数
    """
    sequence(make, "..........", 16.0, 2.0, 0.5, 3)
    sequence(make, "....", 16.0, 4.0, 0.5, 1)


def edge_an_overflow_starts_the_count_anew(make):
    """an overflow one step before the scale would have grown

    再走一步就要放大时发生溢出：重新计数
    """
    sequence(make, "..x..x...x.", 16.0, 2.0, 0.5, 3)
    sequence(make, "xxx...", 16.0, 2.0, 0.25, 2)


def edge_odd_numbers_anywhere(make):
    """an inf or a NaN in the first, a middle or the last tensor: no gradient is touched

    inf 或 NaN 出现在第一个、中间或最后一个张量：所有梯度都不动
    """
    one = make.new("DynamicScaler", 8.0, 2.0, 0.5, 2)
    for place in range(3):
        for odd in _ODD:
            grads = [torch.ones(2, 2), torch.full((3,), 2.0), torch.tensor([5.0, -6.0])]
            grads[place].view(-1)[-1] = odd
            one_step(make, one, grads)


def edge_float16_gradients(make):
    """float16 gradients near 6·10⁴ under a scale of 2¹⁷, which is no float16

    float16 的梯度约 6·10⁴，scale 为 2¹⁷，超出 float16 的范围
    """
    one = make.new("DynamicScaler", 2.0**17, 2.0, 0.5, 2)
    for row in ([60000.0, -30000.0, 7.0], [1.0, 65504.0, -65504.0]):
        make.method(one, "step", make.shared([make.keep(torch.tensor(row).half(), dtype="fixed")]))
        make.compare(make.method(one, "update"), False)
