"""Steps in sequence on one or two states, with settings large enough for every term to show."""

from __future__ import annotations

import torch

SIZES = {"n": (1, 5, 70), "steps": (1, 5, 100)}
GRADIENTS = False
WITHOUT_GRAPH = ("p", "g")
HARDENED = {"edge_resumed"}


def settings(make):
    return {
        "lr": make.pick([0.1, 0.03, 0.5, 1e-3, 0.0]),
        "betas": make.pick([(0.9, 0.999), (0.5, 0.8), (0.8, 0.9), (0.0, 0.5), (0.9, 0.95)]),
        "eps": make.pick([1e-8, 1e-2, 0.3, 1e-6]),
    }


def case(make):
    """One parameter; two in turns, the second a step later; or settings that change."""
    kind, scale = make.pick(["one", "two", "schedule"]), make.pick([1.0, 100.0, 0.0, 1e-2, 1e-4])
    shape = (*make.lead(), *make.pick([(), (make.size("n"),)]))
    states, hyper = [make.shared({}), make.shared({})], settings(make)
    parameters = [make.normal(*shape), make.normal(*shape)]
    for count in range(make.size("steps")):
        if kind == "schedule":
            hyper = settings(make)
        for k in range(2 if kind == "two" and count else 1):
            new = make.call("adam_step", parameters[k], make.normal(*shape, scale=scale), states[k], **hyper)
            if make.dtype.itemsize > 2:  # rounded twice to 16 bits, it would have no single right value
                parameters[k] = new


def steps(make, p, gradients, state=(), dtype="follow", **hyper):
    state, chained = make.shared(dict(state)), p.dtype.itemsize > 2
    for g in gradients:
        new = make.call("adam_step", p, make.keep(g, dtype=dtype), state, 0.1, **hyper)
        p = new if chained else p


def edge_without_gradient(make):
    """g = 0 from the start: 0/(0 + ε) is 0, the parameter stays

    从一开始 g 就是 0：0/(0 + ε) = 0，参数不动
    """
    steps(make, make.normal(3), [torch.zeros(3)] * 3)
    steps(make, make.normal(), [torch.zeros(()), torch.ones(())])


def edge_sizes_of_gradients(make):
    """one trajectory at a thousand times the gradient; 10⁻²⁰, where ε decides; one spike among ordinary steps

    梯度放大一千倍，轨迹不变；10⁻²⁰ 的梯度由 ε 主导；平常的几步里冒出一个尖峰
    """
    start, shared = make.normal(4), make.normal(3, 4, grad=False)
    for sizes in ((1.0, 1.0, 1.0), (1e3, 1e3, 1e3), (1e-20, 1e-20), (1.0, 1e6, 1.0, 1.0)):
        steps(make, start, [size * shared[k % 3] for k, size in enumerate(sizes)])


def edge_resumed(make):
    """states from a checkpoint, after 7, 60 and 900 steps

    状态来自检查点：已走 7、60、900 步
    """
    for t, betas in ((7, (0.8, 0.9)), (60, (0.99, 0.999)), (900, (0.9, 0.9999))):
        state = {"t": t, "m": make.normal(3), "v": make.keep(torch.tensor([0.5, 0.25, 2.0]))}
        steps(make, make.normal(3), [make.normal(3, grad=False)] * 2, state, betas=betas)


def edge_dtypes(make):
    """p and g in 16, 32 and 64 bits: g is squared in float32, m and v are no narrower, p keeps its dtype

    p 和 g 是 16、32、64 位：g 在 float32 里平方，m 和 v 至少是 float32，p 的 dtype 不变
    """
    half, bfloat, single, double = torch.float16, torch.bfloat16, torch.float32, torch.float64
    small = torch.tensor([1e-4, -1e-4, 300.0, 2e-7])
    between = torch.tensor([1.003, -0.997, 1e-9, 300.0])  # no numbers of 16 bits
    p = torch.tensor([1.0, -2.0, 0.5, 3.0])
    for p_dtype, gradients in (
        (single, [between.to(double)] * 2 + [small.to(half)] * 2),
        (bfloat, [between] * 2),
        (half, [between, small.to(half)]),
        (bfloat, [size * torch.ones(4).to(bfloat) for size in (1.0, 0.5, 2.0, 4.0, 1.0, 0.25)]),
    ):
        steps(make, make.keep(p.to(p_dtype), dtype="fixed"), gradients, dtype="fixed")
