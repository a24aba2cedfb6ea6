"""Decays of a head or of a channel, mild and strong; chunks of every size; states from anywhere."""

from __future__ import annotations

import torch

AXES = {
    "q": "B H T d",
    "k": "B H T d",
    "v": "B H T dv",
    "beta": "B H T",
    "log_decay": "B H T ...",
    "S0": "B H d dv",
    "return[0]": "B H T dv",
    "return[1]": "B H d dv",
}
SIZES = {"B": (1, 2), "H": (1, 2), "T": (1, 7, 70), "d": (1, 4, 20), "dv": (1, 5, 40)}
PROFILES = {"stable": ["ordinary"]}
HARDENED = {"stable", "edge_strong_decay"}
TOLERANCE_STABLE = {"float32": 1e-3}
WITHOUT_MOTIFS = {"same"}  # a decay is not positive, whatever a key or β is
_CHUNKS = (3, 64, 1, 2, 5, 16)


def rule(make, per_channel, low, S0=None, beta=(0.0, 1.0), **options):
    """One call whose keys are no longer than 1 and whose decays lie between `low` and 0."""
    q, v = make.arguments("q", "v")
    shape = make.shape("k")
    k = make.uniform(*shape, low=-(shape[-1] ** -0.5), high=shape[-1] ** -0.5)
    gates = make.uniform(*shape[:3], low=beta[0], high=beta[1])
    g = make.uniform(*(shape if per_channel else shape[:3]), low=low, high=0.0)
    result = make.call("gated_delta_rule", q, k, v, gates, g, S0, **options)
    make.dtypes(result[1], make.dtype, torch.float32)
    return result


def case(make):
    S0 = make.argument("S0") if make.flag() else None
    rule(make, make.flag(), make.pick([-0.5, -2.0, 0.0]), S0, chunk=make.pick(_CHUNKS))


def stable(make):
    """Decays down to −60: after a few tokens nothing is left, and e^−G has long overflowed."""
    S0 = make.argument("S0") if make.flag() else None
    rule(make, make.flag(), make.pick([-60.0, -20.0]), S0, chunk=make.pick(_CHUNKS))


def edge_every_chunk(make):
    """chunks of 1, of T, ragged, beyond T: the same result

    chunk 为 1、为 T、除不尽、超过 T：结果都一样
    """
    make.hold(B=1, H=2, T=7, d=3, dv=2)
    for per_channel in (False, True):
        for chunk in (1, 2, 3, 6, 7, 8, 100):
            rule(make, per_channel, -1.0, make.argument("S0"), chunk=chunk)


def edge_one_tensor(make):
    """q, k and v are one tensor

    q、k、v 是同一个张量
    """
    for shape in ((1, 2, 5), (1, 2, 5, 3)):
        x, g = make.uniform(1, 2, 5, 3, low=-0.5, high=0.5), make.uniform(*shape, low=-1.0, high=0.0)
        make.call("gated_delta_rule", x, x, x, make.uniform(1, 2, 5), g, chunk=2)


def edge_a_state_handed_on(make):
    """the second half goes on from the state of the first

    后一半从前一半的状态接着算
    """
    make.hold(B=1, H=1, T=5, d=3, dv=2)
    for per_channel in (False, True):
        _, state = (result := rule(make, per_channel, -1.0, chunk=2))[0], result[1]
        rule(make, per_channel, -1.0, state, chunk=3)


def edge_a_key_written_again(make):
    """β = 1 and unit keys: writing a key again replaces its value, and an orthogonal one stays

    β = 1、key 为单位向量：重写同一个 key 会替换旧值，与它正交的不变
    """
    k = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.6, 0.8]]).view(1, 1, 4, 2)
    v = make.normal(1, 1, 4, 3)
    for beta, g in ((1.0, 0.0), (0.0, 0.0), (1.0, -0.5), (0.5, -0.25)):
        gates = make.keep(torch.full((1, 1, 4), beta), grad=True), make.keep(torch.full((1, 1, 4), g), grad=True)
        make.call("gated_delta_rule", make.normal(1, 1, 4, 2), make.keep(k, grad=True), v, *gates, chunk=2)


def edge_strong_decay(make):
    """−60 for one token or for all, a head or a channel alone: values and gradients stay finite

    某一个或所有 token 的衰减为 −60，按头或只在一个通道：数值和梯度都有限
    """
    make.hold(B=1, H=1, T=12, d=2, dv=2)
    for shape in ((1, 1, 12), (1, 1, 12, 2)):
        one, all_of_them = torch.full(shape, -0.25), torch.full(shape, -60.0)
        one[0, 0, 4] = -60.0
        one[0, 0, 7] = one[0, 0, 7] * torch.tensor([240.0] if len(shape) == 4 else 240.0)
        for g in (one, all_of_them):
            k = make.uniform(1, 1, 12, 2, low=-0.7, high=0.7)
            beta = make.uniform(1, 1, 12)
            arguments = make.argument("q"), k, make.argument("v"), beta, make.keep(g, grad=True)
            make.call("gated_delta_rule", *arguments, make.argument("S0"))


def at(chunk, per_channel):
    def record(make, T):
        make.hold(B=1, H=1, T=T, d=4, dv=4)
        rule(make, per_channel, -0.5, chunk=chunk)

    return record


_LARGEST = {"en": "at a fixed chunk a tensor grows with T²", "zh": "chunk 固定时，有张量随 T² 增长"}
_CALLS = {
    "en": "each further token costs torch calls of its own: a loop over tokens",
    "zh": "每多一个 token 就多几次 torch 调用：逐 token 循环",
}
CONTRACTS = [
    contract | {"case": at(chunk, per_channel), "growth_at_most": 1.0}
    for per_channel in (False, True)
    for chunk, contract in (
        (
            16,
            {
                "check": "memory",
                "measure": "largest",
                "sizes": (64, 192, 576),
                "bound": lambda T: 200 * T,
                "says": _LARGEST,
            },
        ),
        (64, {"check": "work", "measure": "calls", "sizes": (128, 256, 512), "bound": lambda T: 2 * T, "says": _CALLS}),
    )
]
