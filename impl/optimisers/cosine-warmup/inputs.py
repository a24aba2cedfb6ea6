"""Steps before, at and after every corner of the curve, for short and long schedules."""

from __future__ import annotations

GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"]}
SIZES = {"warmup": (0, 6, 2000), "decay": (1, 9, 100_000)}


def case(make):
    """One schedule at its corners and at steps in between."""
    warmup, decay = make.sizes("warmup", "decay")
    total, base_lr = warmup + decay, make.pick([0.1, 3e-4, 1.0, 6e-5])
    min_lr = make.pick([0.0, 0.1 * base_lr, base_lr, 0.5 * base_lr])
    steps = {0, warmup - 1, warmup, warmup + 1, total - 1, total, total + 1, total + decay, 2 * total + 3}
    steps |= {make.size(0, total) for _ in range(4)}
    for step in sorted(step for step in steps if step >= 0):
        make.call("lr_at", step, base_lr, warmup, total, min_lr=min_lr)


def curve(make, warmup, total, *lowest):
    for step in range(total + 4):
        make.call("lr_at", step, 0.4, warmup, total, *lowest)


def edge_without_warmup(make):
    """no warm-up: the first step has the full rate

    没有预热：第一步就是最大学习率
    """
    curve(make, 0, 5)
    curve(make, 0, 1, 0.1)


def edge_one_step(make):
    """one step of warm-up, one step of decay

    预热一步，衰减一步
    """
    curve(make, 1, 2)
    curve(make, 1, 6, 0.04)
    curve(make, 5, 6, 0.04)


def edge_whole_curve(make):
    """a whole schedule, step by step, and three steps beyond its end

    完整的一条曲线，逐步走完，再多走三步
    """
    curve(make, 4, 20)
    curve(make, 4, 20, 0.04)


def edge_long_after_the_end(make):
    """long after the end the rate is still min_lr

    结束很久之后仍是 min_lr
    """
    for step in (100, 110, 150, 200, 290, 10**6, 10**9):
        make.call("lr_at", step, 1e-3, 10, 100, 1e-5)
