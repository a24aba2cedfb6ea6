"""Keys of unit length and others, rates from 0 to 1, states from nothing and from anywhere."""

from __future__ import annotations

import torch

AXES = {
    "q": "B H T d",
    "k": "B H T d",
    "v": "B H T dv",
    "beta": "B H T",
    "S0": "B H dv d",
    "return[0]": "B H T dv",
    "return[1]": "B H dv d",
}
SIZES = {"B": (1, 2), "H": (1, 3), "T": (1, 6, 150), "d": (1, 5, 33), "dv": (1, 4, 33)}


def keys(make, *shape, length=1.0):
    """Keys of one length, so that no product of corrections explodes."""
    k = torch.randn(*shape, generator=make.random, dtype=torch.float64)
    return make.keep(length * k / k.norm(dim=-1, keepdim=True), grad=True)


def case(make):
    q, v = make.arguments("q", "v")
    k = keys(make, *make.shape("k"), length=make.pick([1.0, 0.6, 1.2]))
    beta = make.uniform(*make.shape("beta"))
    S0 = make.pick([None, make.argument("S0")])
    first = make.call("delta_rule", q, k, v, beta, S0=S0)
    if make.dtype.itemsize > 2 and make.flag():  # a state rounded to 16 bits on the way has no single right value
        make.call("delta_rule", q, k, v, beta, first[1])


def edge_rewritten_keys(make):
    """orthogonal unit keys at β = 1: writing a key again replaces its value, the others stay; β = 0 writes nothing

    正交的单位 key，β = 1：再写同一个 key 就替换它的值，其余不变；β = 0 什么也不写
    """
    order = torch.tensor([0, 1, 0, 2, 1, 0, 2])
    k = make.keep(torch.eye(3)[order][None, None], grad=True)
    q = make.keep(torch.eye(3)[torch.tensor([0, 0, 0, 1, 1, 2, 0])][None, None], grad=True)
    for rates in ([1.0] * 7, [0.0] * 7, [1.0, 0.0, 1.0, 0.5, 1.0, 0.0, 1.0]):
        beta = make.keep(torch.tensor(rates)[None, None], grad=True)
        for S0 in (None, make.normal(1, 1, 2, 3)):
            make.call("delta_rule", q, k, make.normal(1, 1, 7, 2), beta, S0)


def edge_long_and_short_keys(make):
    """keys of length 0, 0.1, 1 and 1.4: taken as they are

    长度为 0、0.1、1、1.4 的 key：原样使用
    """
    k = keys(make, 1, 2, 8, 3).detach() * torch.tensor([0.0, 0.1, 1.0, 1.4] * 2, dtype=torch.float64)[:, None]
    for rate in (1.0, 0.3):
        beta = make.keep(torch.full((1, 2, 8), rate), grad=True)
        make.call("delta_rule", make.normal(1, 2, 8, 3), make.keep(k, grad=True), make.normal(1, 2, 8, 4), beta)


def edge_in_pieces(make):
    """one token at a time, each state handed to the next call, and two continuations of one state

    每次一个 token，把状态交给下一次调用；同一个状态接两种后续
    """
    state = make.normal(1, 2, 3, 4)
    for T in (1, 1, 3, 1):
        q, v = make.normal(1, 2, T, 4), make.normal(1, 2, T, 3)
        args = q, keys(make, 1, 2, T, 4), v, make.uniform(1, 2, T), state
        make.call("delta_rule", *args)
        state = make.call("delta_rule", *args)[1]


def edge_small_steps_in_16_bits(make):
    """bfloat16 and float16, 200 small corrections of one value: in 16 bits they stop short of it

    bfloat16、float16，对一个值做 200 次小修正：用 16 位算，走到半路就不动了
    """
    for dtype in (torch.bfloat16, torch.float16):
        one, rate = torch.ones(1, 1, 200, 1), torch.full((1, 1, 200), 2.0**-7)
        q, k, v, beta = (make.keep(t.to(dtype), dtype="fixed") for t in (one, one, 100.0 * one, rate))
        make.call("delta_rule", q, k, v, beta)


def longer(make, T):
    make.hold(B=1, H=1, T=T, d=4, dv=4)
    q, v = make.arguments("q", "v")
    make.call("delta_rule", q, keys(make, 1, 1, T, 4), v, make.uniform(1, 1, T))


# Pieces of up to 128 tokens that are solved together are sound.
CONTRACTS = [
    {
        "check": "memory",
        "measure": "largest",
        "real": {"size": 65_536, "en": "64k context", "zh": "64k 上下文"},
        "case": longer,
        "sizes": (160, 192, 224),
        "growth_at_most": 1.0,
        "bound": lambda T: 100 * T,  # T² grows by 352 a token and more
        "says": {"en": "the largest tensor grows with T²", "zh": "最大的张量随 T² 增长"},
    },
]
