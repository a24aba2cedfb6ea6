"""Steps from almost nothing to large ones, rates from slow to fast, and sequences that get longer."""

from __future__ import annotations

import torch

AXES = {"x": "B T D", "dt": "B T D", "A": "D N", "Bm": "B T N", "C": "B T N", "return": "B T D"}
SIZES = {"B": (1, 3), "T": (1, 6, 120), "D": (1, 5, 33), "N": (1, 4, 20)}


def rates(make, D, N, low=0.1, high=3.0):
    """Negative numbers, each state's own."""
    return make.uniform(D, N, low=-high, high=-low)


def case(make):
    x, Bm, C = make.arguments("x", "Bm", "C")
    dt = make.argument("dt", scale=make.pick([1.0, 3.0]), mean=make.pick([0.0, -2.0]))
    make.call("ssm_scan", x, dt, rates(make, *make.sizes("D", "N")), Bm, C)


def of_steps(make, dt, D=3, N=2):
    """A call with these dt for all channels, one for each token."""
    T = len(dt)
    make.hold(B=2, T=T, D=D, N=N)
    x, Bm, C = make.arguments("x", "Bm", "C")
    steps = torch.tensor(dt, dtype=torch.float64)[None, :, None].expand(2, T, D)
    make.call("ssm_scan", x, make.keep(steps, grad=True), rates(make, D, N), Bm, C)


def edge_steps_of_nothing_and_large_ones(make):
    """dt of −100: the token is skipped and the state kept; dt of 60: the past is forgotten, softplus does not overflow

    dt = −100：跳过这个 token，状态不变；dt = 60：忘掉过去，softplus 也不溢出
    """
    of_steps(make, [1.0, -100.0, -100.0, 0.5, -30.0])
    of_steps(make, [0.3, 60.0, -1.0, 100.0, 0.1])
    of_steps(make, [-100.0, -100.0])
    of_steps(make, [-20.0, -10.0, -5.0, 0.2, 10.0, 15.0])


def edge_equal_widths(make):
    """D = N = T: what is taken for another axis keeps every shape

    D = N = T：拿错了轴，形状也不变
    """
    make.hold(B=2, T=4, D=4, N=4)
    x, dt, Bm, C = make.arguments("x", "dt", "Bm", "C")
    make.call("ssm_scan", x, dt, rates(make, 4, 4), Bm, C)


def edge_slow_states_in_16_bits(make):
    """bfloat16 and float16, 300 tokens into a state that hardly decays: added in 16 bits, late ones vanish

    bfloat16、float16，300 个 token 进入几乎不衰减的状态：用 16 位累加，后面的会加不进去
    """
    for dtype in (torch.bfloat16, torch.float16):
        x, one = torch.full((1, 300, 1), 1.5), torch.ones(1, 300, 1)
        tensors = x, -2.0 * one, torch.full((1, 1), -(2.0**-12)), one, one
        make.call("ssm_scan", *(make.keep(t.to(dtype), dtype="fixed") for t in tensors))


def longer(make, T, D=8, N=16):
    make.hold(B=1, T=T, D=D, N=N)
    x, dt, Bm, C = make.arguments("x", "dt", "Bm", "C")
    make.call("ssm_scan", x, dt, rates(make, D, N), Bm, C)


CONTRACTS = [
    {
        "check": "memory",
        "measure": "largest",
        "real": {"size": 65_536, "en": "64k context", "zh": "64k 上下文"},
        "case": longer,
        "sizes": (48, 96, 192),
        "growth_at_most": 1.0,
        "bound": lambda T: 40 * T,  # inputs are 8 or 16 numbers a token, all states 128
        "says": {
            "en": "all states together are made: (B, T, D, N) numbers",
            "zh": "把所有时刻的状态一起做了出来：(B, T, D, N) 个数",
        },
    },
]
