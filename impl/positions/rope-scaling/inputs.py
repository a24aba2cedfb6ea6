"""All three types over widths, bases, factors and contexts; ramps that begin before the first pair and end behind the last."""

from __future__ import annotations

import math

AXES = {"return[0]": "pairs"}
SIZES = {"pairs": (2, 8, 64)}
DERIVED = {"d": "2 * pairs"}
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"]}
GRADIENTS = False
_BETAS = [{}, {"beta_fast": 16, "beta_slow": 2}, {"beta_fast": 64.0}, {"beta_slow": 3}]


def clear(d, base, context, betas):
    """The first context from this one on at which no end of the ramp is near an integer."""
    turns = betas.get("beta_fast", 32), betas.get("beta_slow", 1)
    while True:
        ends = [d * math.log(context / (2 * math.pi * beta)) / (2 * math.log(base)) for beta in turns]
        if all(abs(end - round(end)) > 1e-3 for end in ends):
            return context
        context += 7


def call(make, d, base, kind, s, context=0, betas=()):
    scaling = {"type": kind, "factor": s}
    if kind == "yarn":
        scaling |= {"original_max_position": clear(d, base, context, dict(betas)), **dict(betas)}
    make.call("rope_inv_freq", d, base, scaling)


def case(make):
    kind = make.pick(["yarn", "linear", "ntk"])
    base, s = make.pick([10000.0, 500000.0, 1000.0]), make.pick([4.0, 8.0, 1.5, 32.0, 2, 1.0])
    call(make, make.size("d"), base, kind, s, make.pick([4096, 2048, 8192, 131072, 100]), make.pick(_BETAS))


def edge_a_head_of_128(make):
    """a head of 128 and base 10,000, as in Llama 2: pairs up to 20 stay, from 46 on they are divided

    头宽 128、base 10,000，如 Llama 2：下标不超过 20 的对不变，从 46 起除以 s
    """
    for kind in ("linear", "ntk", "yarn"):
        call(make, 128, 10000.0, kind, 8.0, 4096)


def edge_ramp_beyond_the_pairs(make):
    """a ramp that begins before the first pair, and one that ends behind the last

    过渡段从第一对之前开始，或到最后一对之后才结束
    """
    for context in (64, 150, 70_000, 500_000):
        for d in (16, 64):
            call(make, d, 10000.0, "yarn", 4.0, context)


def edge_factor_of_one_or_less(make):
    """s = 1 changes nothing; for s < 1 the factor stays 1.0

    s = 1 什么都不变；s < 1 时系数仍是 1.0
    """
    for kind in ("linear", "ntk", "yarn"):
        for s in (1.0, 0.5):
            call(make, 32, 10000.0, kind, s, 2048)


def edge_betas(make):
    """beta_fast and beta_slow given, in part and not at all

    beta_fast、beta_slow：都给、只给一个、都不给
    """
    for betas in (*_BETAS, {"beta_fast": 8, "beta_slow": 4}, {"beta_fast": 32, "beta_slow": 1}):
        call(make, 64, 10000.0, "yarn", 8.0, 4096, betas)
