"""Step sizes from nothing to large, decays slow and fast, long texts in which the past still counts."""

from __future__ import annotations

import torch

AXES = {"x": "B T D", "dt": "B T D", "A": "D N", "Bm": "B T N", "C": "B T N", "return": "B T D"}
SIZES = {"B": (1, 2), "T": (1, 7, 60), "D": (1, 4, 40), "N": (1, 5, 33)}


def scan(make, dt, slowest=-0.1, fastest=-2.0):
    x, into, out = make.arguments("x", "Bm", "C")
    make.call("ssm_scan", x, dt, make.uniform(*make.shape("A"), low=fastest, high=slowest), into, out)


def case(make):
    scan(make, make.argument("dt", mean=make.pick([0.0, -2.0, 1.0])))


def edge_no_step(make):
    """dt of −30 and −200 at some tokens: the state stays; at all tokens: the result is 0

    某些 token 的 dt 为 −30、−200：状态不变；全部如此时结果为 0
    """
    make.hold(B=1, T=5, D=2, N=3)
    some = torch.tensor([0.5, -30.0, 1.0, -200.0, 0.25]).view(1, 5, 1).expand(1, 5, 2).clone()
    for dt in (some, torch.full((1, 5, 2), -200.0)):
        scan(make, make.keep(dt, grad=True))


def edge_large_steps(make):
    """dt of 30 and 100: the past is forgotten at once, and nothing overflows

    dt 为 30、100：过去立刻被忘掉，也不能溢出
    """
    make.hold(B=1, T=4, D=2, N=2)
    dt = torch.tensor([30.0, 0.5, 100.0, -1.0]).view(1, 4, 1).expand(1, 4, 2).clone()
    scan(make, make.keep(dt, grad=True), -0.5, -5.0)


def edge_a_long_memory(make):
    """A near 0 over forty tokens: the first token still counts at the end

    A 接近 0，四十个 token：第一个 token 到最后仍有影响
    """
    make.hold(B=1, T=40, D=2, N=2)
    scan(make, make.argument("dt", mean=-1.0), -0.001, -0.01)


def edge_channels_of_their_own(make):
    """step sizes that differ much between channels of one token

    同一个 token 的各通道步长差别很大
    """
    make.hold(B=2, T=4, D=3, N=2)
    dt = torch.tensor([-4.0, 0.0, 4.0]).expand(2, 4, 3).clone()
    scan(make, make.keep(dt, grad=True), -0.3, -0.9)


def long(make, T):
    make.hold(B=1, T=T, D=8, N=16)
    scan(make, make.argument("dt"))


CONTRACTS = [
    {
        "check": "memory",
        "measure": "largest",
        "case": long,
        "sizes": (24, 72, 216),
        "bound": lambda T: 64 * T,  # T·D·N is 128·T, the inputs 16·T
        "growth_at_most": 1.0,
        "real": {"size": 65_536, "en": "64k tokens", "zh": "64k 个 token"},
        "says": {"en": "all states are kept at once: T·D·N numbers", "zh": "同时保存了所有状态：T·D·N 个数"},
    }
]
