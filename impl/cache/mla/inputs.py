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
_WIDTHS = {"D": (1, 5), "H": (1, 4), "d_nope": (1, 4), "pairs": (1, 3), "d_v": (1, 4), "r_kv": (1, 4), "r_q": (1, 4)}
# torch cannot turn odd slices of one row into complex numbers: at least two sequences
SIZES = {"steps": (1, 3, 35), "T": (1, 5, 36), "B": (2, 3), **_WIDTHS}
DERIVED = {"d_rope": "2 * pairs"}
SIXTEEN_BITS = "native"
MODULES_UNCHANGED = True
LARGE = 3.0  # activations and weights grow together, so the logits reach ±200
PROFILES = {"stable": ["large"]}
HARDENED = {"edge_cache_from_elsewhere"}


def layer(make, D, H, d_nope, pairs, d_v, r_kv, r_q):
    """A layer with all nine weights set."""
    d_rope = 2 * pairs
    made = make.new("MLA", D, H, d_nope, d_rope, d_v, r_kv, r_q)
    shapes = {
        "w_dq": (D, r_q),
        "w_uq": (r_q, H, d_nope + d_rope),
        "w_dkv": (D, r_kv),
        "w_kr": (D, d_rope),
        "w_uk": (r_kv, H, d_nope),
        "w_uv": (r_kv, H, d_v),
        "w_o": (H * d_v, D),
    }
    values = {name: make.normal(*shape, scale=shape[0] ** -0.5 + 0.2) for name, shape in shapes.items()}
    gains = {"g_q": make.uniform(r_q, low=0.5, high=2.0), "g_kv": make.uniform(r_kv, low=0.5, high=2.0)}
    make.set(made, {**values, **gains})
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
    kind, B, D = make.pick(["forward", "steps"]), *make.sizes("B", "D")
    mla = layer(make, *make.sizes(*_WIDTHS))
    if kind == "forward":
        make.read(mla, "trainable")
        make.method(mla, "forward", make.argument("x"), places(make, B, make.size("T")))
        return
    branching, cache = make.flag(), {}
    for _ in range(make.size("steps")):
        cache = step(make, mla, B, D, cache)
    if branching:
        left, right = step(make, mla, B, D, cache), step(make, mla, B, D, cache)
        for other in (left, right, cache):
            step(make, mla, B, D, other)


def step(make, mla, B, D, cache):
    """One step at a position of its own; the cache it returns."""
    return make.method(mla, "step", make.normal(B, 1, D), places(make, B, 1), cache)[1]


def edge_one_token_far_out(make):
    """one sequence of one token, forward and step from {}, at positions near 500

    一条序列、一个 token：forward，以及从 {} 开始的 step，位置在 500 左右
    """
    mla = layer(make, 5, 3, 2, 2, 3, 4, 2)
    B, cache = 2 if make.profile == "strided" else 1, {}
    make.method(mla, "forward", make.normal(B, 1, 5), at(make, [[498], [5]][:B]))
    for pos in ([[498], [5]], [[501], [8]], [[500], [6]]):
        cache = make.method(mla, "step", make.normal(B, 1, 5), at(make, pos[:B]), cache)[1]


def edge_cache_from_elsewhere(make):
    """a cache that this layer did not make; its latents are past their norm, its keys past their rotation

    cache 来自别处，不是这一层生成的：潜在向量已归一化，key 已旋转
    """
    mla = layer(make, 5, 3, 2, 2, 3, 4, 2)
    cache = {"c": make.normal(2, 70, 4), "kr": make.normal(2, 70, 4)}
    for _ in range(2):
        step(make, mla, 2, 5, cache)


def edge_small_activations(make):
    """activations near 0.001: the 1e-6 of the norms counts

    激活在 0.001 左右：归一化里的 1e-6 不可忽略
    """
    mla = layer(make, 5, 3, 2, 2, 3, 4, 2)
    make.method(mla, "forward", make.normal(2, 3, 5, scale=1e-3), at(make, make.integers(0, 9, 2, 3)))


def step_at(make, t, B=2):
    """One step behind t tokens, with many wide heads over a small latent."""
    mla = layer(make, 8, 4, 24, 1, 24, 4, 4)
    cache = {"c": make.normal(B, t, 4), "kr": make.normal(B, t, 2)}
    make.method(mla, "step", make.normal(B, 1, 8), torch.full((B, 1), t), cache)


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
