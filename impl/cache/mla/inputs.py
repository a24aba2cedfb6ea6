"""Weights set from outside, widths that all differ, positions anywhere; steps from nothing and in branches."""

from __future__ import annotations

import torch

AXES = {
    "x": "B T D",
    "x_t": "B ... D",
    "forward.pos": "B T",
    "step.pos": "B ...",
    "cache['c']": "B t r_kv",
    "cache['kr']": "B t d_rope",
    "w_dq": "D r_q",
    "g_q": "r_q",
    "w_uq": "r_q H d_nope+d_rope",
    "w_dkv": "D r_kv",
    "g_kv": "r_kv",
    "w_kr": "D d_rope",
    "w_uk": "r_kv H d_nope",
    "w_uv": "r_kv H d_v",
    "w_o": "H·d_v D",
    "forward.return": "B T D",
    "step.return[0]": "B ... D",
    "step.return[1]['c']": "B t+1 r_kv",
    "step.return[1]['kr']": "B t+1 d_rope",
}
# torch cannot turn odd slices of one row into complex numbers: at least two sequences
SIZES = {"steps": (1, 2), "T": (1, 5), "B": (2, 3), "D": (1, 5), "H": (1, 4), "pairs": (1, 3)}
SIZES |= dict.fromkeys(("d_nope", "d_v", "r_kv", "r_q"), (1, 4))
DERIVED = {"d_rope": "2 * pairs", "H·d_v": "H * d_v"}
SIXTEEN_BITS = "native"
MODULES_UNCHANGED = True
LARGE = 3.0  # activations and weights grow together, so the logits reach ±200
PROFILES = {"stable": ["large"]}
HARDENED = {"edge_cache_from_elsewhere"}
WITHOUT_MOTIFS = {"one"}  # nine sizes, each drawn from 1 on


def layer(make):
    """A layer with all nine weights set."""
    made = make.new("MLA", *make.sizes("D", "H", "d_nope", "d_rope", "d_v", "r_kv", "r_q"))
    names = ("w_dq", "w_uq", "w_dkv", "w_kr", "w_uk", "w_uv", "w_o")
    weights = {name: make.argument(name, scale=make.shape(name)[0] ** -0.5 + 0.2) for name in names}
    gains = {name: make.uniform(*make.shape(name), low=0.5, high=2.0) for name in ("g_q", "g_kv")}
    make.set(made, {**weights, **gains})
    return made


def at(make, pos):
    """Angles may be float32 whatever the layer is: in float64 every token stands at 0, where that makes no difference."""
    pos = torch.as_tensor(pos)
    return torch.zeros_like(pos) if make.profile == "float64" else pos


def places(make, B, T):
    """Positions per row: in order, unsorted and repeated, or far from 0: 16 bits hold no position of thousands."""
    kind = make.pick(["in order", "anywhere", "shifted"])
    if kind == "anywhere":
        return at(make, make.integers(0, 40, B, T))
    far = (5000 if make.dtype.itemsize == 2 else 60) if kind == "shifted" else 1
    return at(make, make.integers(0, far, B, 1) + torch.arange(T))


def case(make):
    kind, mla = make.pick(["forward", "steps"]), layer(make)
    if kind == "forward":
        make.read(mla, "trainable")
        make.method(mla, "forward", make.argument("x"), places(make, *make.sizes("B", "T")))
        return
    branching, cache = make.flag(), {}
    for _ in range(make.size("steps")):
        cache = step(make, mla, cache)
    if branching:
        left, right = step(make, mla, cache), step(make, mla, cache)
        for other in (left, right, cache):
            step(make, mla, other)


def step(make, mla, cache, pos=None):
    """One step at a position of its own; the cache it returns."""
    B, D = make.sizes("B", "D")
    pos = places(make, B, 1) if pos is None else at(make, pos)
    return make.method(mla, "step", make.normal(B, 1, D), pos, cache)[1]


def past(make, t):
    """A cache of t tokens from anywhere."""
    B, r_kv, d_rope = make.sizes("B", "r_kv", "d_rope")
    return {"c": make.normal(B, t, r_kv), "kr": make.normal(B, t, d_rope)}


def edge_order_and_positions(make):
    """36 tokens, whatever their positions say: none sees a later one

    36 个 token，不管 pos 是什么，都看不到排在后面的
    """
    make.hold(B=2, T=36)
    forth = torch.arange(36)
    pos = at(make, torch.stack([35 - forth, (35 - forth) * 7 % 11]))
    make.method(layer(make), "forward", make.argument("x"), pos)


def edge_one_token_far_out(make):
    """one sequence of one token, forward and step from {}, at positions near 500

    一条序列、一个 token：forward，以及从 {} 开始的 step，位置在 500 左右
    """
    B = 2 if make.profile == "strided" else 1
    make.hold(B=B, T=1)
    mla, cache = layer(make), {}
    make.method(mla, "forward", make.argument("x"), at(make, [[498], [5]][:B]))
    for pos in ([[498], [5]], [[501], [8]], [[500], [6]]):
        cache = step(make, mla, cache, pos[:B])


def edge_cache_from_elsewhere(make):
    """a cache that this layer did not make; its latents are past their norm, its keys past their rotation

    cache 来自别处，不是这一层生成的：潜在向量已归一化，key 已旋转
    """
    mla, cache = layer(make), past(make, 70)
    for _ in range(2):
        step(make, mla, cache)


def edge_small_activations(make):
    """activations near 0.001: the 1e-6 of the norms counts

    激活在 0.001 左右：归一化里的 1e-6 不可忽略
    """
    make.method(layer(make), "forward", make.argument("x", scale=1e-3), places(make, *make.sizes("B", "T")))


def step_at(make, t, B=2):
    """One step behind t tokens, with many wide heads over a small latent."""
    make.hold(B=B, D=8, H=4, d_nope=24, pairs=1, d_v=24, r_kv=4, r_q=4)
    step(make, layer(make), past(make, t), [[t]] * B)


_KEPT = {16: 3, 64: 2, 256: 1}  # tokens, and sequences: one alone has no batch to tell it from a view
_REAL = {"size": 65_536, "en": "64k context", "zh": "64k 上下文"}
CONTRACTS = [
    {
        "check": "work",
        "measure": "flops",
        "case": step_at,
        "sizes": (16, 64, 256),
        "growth_at_most": 3.0,
        "says": {
            "en": "the work of a step grows with the past as if keys or values were expanded for every head",
            "zh": "单步计算量随前缀增长，好像为每个头展开了 key 或 value",
        },
    },
    {
        "check": "memory",
        "measure": "largest",
        "real": _REAL,
        "case": step_at,
        "sizes": (16, 64, 256),
        "growth_at_most": 1.0,
        "bound": lambda t: 2 * t * 4 * (4 + 2 + 4),  # B·t·H·(r_kv + d_rope) and some; a key per head takes B·t·H·24
        "says": {
            "en": "a step makes a tensor with a key or value per head and past token",
            "zh": "单步里出现了按头、按过去 token 展开的 key 或 value 张量",
        },
    },
    {
        "check": "memory",
        "measure": "returned",
        "from_nothing": True,
        "real": _REAL,
        "case": lambda make, t: step_at(make, t, _KEPT.get(t, 1)),
        "sizes": tuple(_KEPT),
        "growth_at_most": 1.05,  # B·t·(r_kv + d_rope) numbers
        "says": {
            "en": "the cache keeps more memory alive than r_kv + d_rope numbers a token",
            "zh": "cache 占住的内存超过了每个 token r_kv + d_rope 个数",
        },
    },
]
