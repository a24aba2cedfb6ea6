"""Steps in sequence on one or two states, with gradients that turn round, so that both averages show."""

from __future__ import annotations

import torch

SIZES = {"n": (1, 5, 70), "steps": (1, 5, 60)}
GRADIENTS = False
WITHOUT_GRAPH = ("p", "g")
HARDENED = {"edge_resumed"}


def settings(make):
    return {
        "lr": make.pick([0.1, 0.03, 0.5, 1e-3, 0.0]),
        "betas": make.pick([(0.9, 0.99), (0.5, 0.8), (0.8, 0.3), (0.0, 0.5), (0.95, 0.98)]),
        "weight_decay": make.pick([0.3, 0.0, 0.5, 0.01, 1.5]),
    }


def decided(make, g, m, beta1, beta2):
    """g, doubled where β1·m and (1 − β1)·g all but cancel and rounding would decide the sign; and m after it."""
    wide = g.detach().double()
    near = (beta1 * m + (1 - beta1) * wide).abs() < 1e-4 * (1 - beta1) * wide.abs()
    if near.any():
        g = make.keep(torch.where(near, 2 * wide, wide))
        wide = g.double()
    return g, beta2 * m + (1 - beta2) * wide


def case(make):
    """One parameter; two in turns, the second a step later; or settings that change."""
    kind, scale = make.pick(["one", "two", "schedule"]), make.pick([1.0, 100.0, 0.0, 1e-4])
    shape = (*make.lead(), *make.pick([(), (make.size("n"),)]))
    states, hyper = [make.shared({}), make.shared({})], settings(make)
    parameters, moments = [make.normal(*shape), make.normal(*shape)], [0.0, 0.0]
    for count in range(make.size("steps")):
        if kind == "schedule":
            hyper = settings(make)
        for k in range(2 if kind == "two" and count else 1):
            g, moments[k] = decided(make, make.normal(*shape, scale=scale), moments[k], *hyper["betas"])
            new = make.call("lion_step", parameters[k], g, states[k], **hyper)
            if make.dtype.itemsize > 2:  # rounded twice to 16 bits, it would have no single right value
                parameters[k] = new


def steps(make, p, gradients, state=(), dtype="follow", **hyper):
    state, chained = make.shared(dict(state)), p.dtype.itemsize > 2
    for g in gradients:
        new = make.call("lion_step", p, make.keep(g, dtype=dtype), state, 0.1, **hyper)
        p = new if chained else p


def edge_default_settings(make):
    """defaults: β = 0.9 and 0.99, no decay

    什么都不传：β 取 0.9 和 0.99，不衰减
    """
    steps(make, make.normal(6, scale=5.0), [make.normal(6, grad=False) for _ in range(8)])


def edge_gradient_turns_round(make):
    """a gradient turns round after a long while: the short average follows in one step, the long one does not

    梯度方向维持很久之后反转：短的平均一步就跟上，长的跟不上
    """
    turning = [torch.tensor([1.0, -1.0, 1.0])] * 6 + [torch.tensor([-3.0, 0.4, -0.2])] * 4
    for betas in ((0.9, 0.99), (0.6, 0.9)):
        steps(make, make.normal(3), turning, betas=betas)


def edge_without_gradient(make):
    """g = 0: from the start only decay, later the sign of the remaining m

    g = 0：一开始只有衰减；之后按 m 里剩下的符号走
    """
    steps(make, make.normal(3), [torch.zeros(3)] * 3, weight_decay=0.5)
    steps(make, make.normal(2), [torch.tensor([1e-20, -1e6]), *[torch.zeros(2)] * 3])


def edge_resumed(make):
    """states from a checkpoint

    状态来自检查点
    """
    for size in (1e-6, 1.0, 1e4):
        steps(
            make, make.normal(3), [make.normal(3, grad=False)] * 2, {"m": make.normal(3, scale=size)}, weight_decay=0.1
        )


def edge_dtypes(make):
    """p and g in 16, 32 and 64 bits: m is float32 at least, p keeps its dtype

    p 和 g 是 16、32、64 位：m 至少是 float32，p 的 dtype 不变
    """
    half, bfloat, single, double = torch.float16, torch.bfloat16, torch.float32, torch.float64
    between = torch.tensor([1.003, -0.997, 1e-9, 300.0])  # no numbers of 16 bits
    p = torch.tensor([1.0, -2.0, 0.5, 3.0])
    for p_dtype, g_dtype in ((single, double), (bfloat, single), (half, bfloat), (bfloat, bfloat)):
        gradients = [(between * size).to(g_dtype) for size in (1.0, -0.05, 0.3, -1.0)]
        steps(make, make.keep(p.to(p_dtype), dtype="fixed"), gradients, dtype="fixed", weight_decay=0.3)
