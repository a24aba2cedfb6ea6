"""Weights set from outside, widths that all differ, positions anywhere; steps from nothing, in branches, in turns."""

from __future__ import annotations

import torch

AXES = {
    "x": "B T _D",
    "x_t": "B ... _D",
    "forward.pos": "B T",
    "step.pos": "B ...",
    "cache['c']": "B t r_kv",
    "cache['kr']": "B t d_rope",
    "w_dq": "_D r_q",
    "g_q": "r_q",
    "w_uq": "r_q H d_nope+d_rope",
    "w_dkv": "_D r_kv",
    "g_kv": "r_kv",
    "w_kr": "_D d_rope",
    "w_uk": "r_kv H d_nope",
    "w_uv": "r_kv H d_v",
    "w_o": "H·d_v _D",
    "forward.return": "B T _D",
    "step.return[0]": "B ... _D",
    "step.return[1]['c']": "B t+1 r_kv",
    "step.return[1]['kr']": "B t+1 d_rope",
}
SIXTEEN_BITS = "native"
MODULES_UNCHANGED = True
LARGE = 3.0  # activations and weights grow together, so the logits reach ±200
PROFILES = {"stable": ["large"]}


def layer(make, _D, H, d_nope, d_rope, d_v, r_kv, r_q):
    """A layer with all nine weights set."""
    made = make.new("MLA", _D, H, d_nope, d_rope, d_v, r_kv, r_q)
    shapes = {
        "w_dq": (_D, r_q),
        "w_uq": (r_q, H, d_nope + d_rope),
        "w_dkv": (_D, r_kv),
        "w_kr": (_D, d_rope),
        "w_uk": (r_kv, H, d_nope),
        "w_uv": (r_kv, H, d_v),
        "w_o": (H * d_v, _D),
    }
    values = {name: make.normal(*shape, scale=shape[0] ** -0.5 + 0.2) for name, shape in shapes.items()}
    gains = {"g_q": make.uniform(r_q, low=0.5, high=2.0), "g_kv": make.uniform(r_kv, low=0.5, high=2.0)}
    make.set(made, {**values, **gains})
    return made


def widths(make):
    _D, H = make.size(1, 5), make.size(1, 3)
    return _D, H, make.size(1, 4), 2 * make.size(1, 3), make.size(1, 4), make.size(1, 4), make.size(1, 4)


def at(make, pos):
    """Angles may be float32 whatever the layer is: in float64 every token stands at 0, where that makes no difference."""
    pos = torch.as_tensor(pos)
    return torch.zeros_like(pos) if make.profile == "float64" else pos


def places(make, B, T):
    """Positions per row, unsorted, repeated and far from 0."""
    return at(make, drawn_places(make, B, T))


def far(make):
    """16 bits hold no position of thousands, let alone its angle."""
    return 5000 if make.dtype.itemsize == 2 else 60


def drawn_places(make, B, T):
    kind = make.pick(["in order", "anywhere", "shifted"])
    if kind == "anywhere":
        return make.integers(0, 40, B, T)
    start = make.integers(0, far(make), B, 1) if kind == "shifted" else torch.zeros(B, 1, dtype=torch.long)
    return start + torch.arange(T)


def case(make):
    sizes = widths(make)
    _D, B, T = (
        sizes[0],
        make.size(2, 3),
        make.size(1, 5),
    )  # torch cannot turn odd slices of one row into complex numbers
    mla = layer(make, *sizes)
    if make.profile == "meta":
        make.method(mla, "forward", make.normal(B, T, _D), places(make, B, T))
        step(make, mla, B, _D, step(make, mla, B, _D, {}))
        return
    kind = make.pick(["forward", "steps", "given cache", "branches", "names"])
    if kind == "forward":
        make.method(mla, "forward", make.normal(B, T, _D), places(make, B, T))
    elif kind == "names":
        make.read(mla, "trainable")
    elif kind == "given cache":
        cache = {"c": make.normal(B, T, sizes[5]), "kr": make.normal(B, T, sizes[3])}
        step(make, mla, B, _D, step(make, mla, B, _D, cache))
    else:
        cache = {}
        for _ in range(make.size(1, 3)):
            cache = step(make, mla, B, _D, cache)
        if kind == "branches":
            branches(make, mla, B, _D, cache)


def step(make, mla, B, _D, cache, pos=None):
    """One step at a position of its own; the cache it returns."""
    pos = make.integers(0, far(make), B, 1) if pos is None else pos
    return make.method(mla, "step", make.normal(B, 1, _D), at(make, pos), cache)[1]


def branches(make, mla, B, _D, cache):
    """Two continuations of one cache, and then the cache once more."""
    left, right = step(make, mla, B, _D, cache), step(make, mla, B, _D, cache)
    step(make, mla, B, _D, left)
    step(make, mla, B, _D, right)
    step(make, mla, B, _D, cache)


_SIZES = (5, 3, 2, 4, 3, 4, 2)  # _D, H, d_nope, d_rope, d_v, r_kv, r_q
_D = _SIZES[0]


def edge_parameters(make):
    """nine parameters of these names and shapes, all trainable, and no biases

    九个参数，名字和形状与题目一致，全部可训练，没有偏置
    """
    mla = layer(make, *_SIZES)
    make.read(mla, "trainable")
    for name in ("w_dq", "g_q", "w_uq", "w_dkv", "g_kv", "w_kr", "w_uk", "w_uv", "w_o"):
        make.read(mla, name)


def edge_one_token(make):
    """T = 1, forward and step from {}, of one sequence

    T = 1，一条序列：forward，以及从 {} 开始的 step
    """
    mla = layer(make, *_SIZES)
    B = 2 if make.profile == "strided" else 1  # torch cannot turn odd slices of one row into complex numbers
    make.method(mla, "forward", make.normal(B, 1, _D), at(make, [[3], [0]][:B]))
    step(make, mla, B, _D, step(make, mla, B, _D, {}))


def edge_forward_is_causal(make):
    """no token of 36 sees a later one, whatever the positions say

    36 个 token，不管 pos 是什么，都看不到排在后面的
    """
    mla = layer(make, *_SIZES)
    forth = torch.arange(36)
    make.method(mla, "forward", make.normal(2, 36, _D), at(make, torch.stack([forth, (35 - forth) * 7 % 11])))


def edge_steps_are_forward(make):
    """the same tokens in one pass and one by one

    同样的 token，一次 forward 和逐个 step 各做一遍
    """
    mla = layer(make, *_SIZES)
    x, pos = make.normal(2, 4, _D), at(make, [[0, 1, 2, 3], [7, 8, 9, 10]])
    make.method(mla, "forward", x, pos)
    cache = {}
    for t in range(4):
        x_t = make.keep(x.detach()[:, t : t + 1].clone(), grad=True)
        cache = make.method(mla, "step", x_t, pos[:, t : t + 1].clone(), cache)[1]


def edge_cache_from_elsewhere(make):
    """a cache that this layer did not make; its latents are past their norm, its keys past their rotation

    cache 来自别处，不是这一层生成的：潜在向量已归一化，key 已旋转
    """
    mla = layer(make, *_SIZES)
    cache = {"c": make.normal(2, 70, 4), "kr": make.normal(2, 70, 4)}
    step(make, mla, 2, _D, cache)
    step(make, mla, 2, _D, cache)


def edge_branches(make):
    """two continuations of one cache do not see each other

    同一个 cache 的两条续写互相看不到
    """
    mla = layer(make, *_SIZES)
    branches(make, mla, 2, _D, step(make, mla, 2, _D, step(make, mla, 2, _D, {})))


def edge_two_layers(make):
    """two layers of equal sizes and other weights, decoded in turns

    两层尺寸相同、权重不同，交替解码
    """
    first, second = layer(make, *_SIZES), layer(make, *_SIZES)
    a, b = {}, {}
    for _ in range(2):
        a, b = step(make, first, 2, _D, a), step(make, second, 2, _D, b)


def edge_all_widths_equal(make):
    """every size is 4: a transposition keeps every shape

    每一维都是 4：转置错了，形状也不变
    """
    mla = layer(make, 4, 4, 4, 4, 4, 4, 4)
    make.method(mla, "forward", make.normal(4, 4, 4), at(make, make.integers(0, 9, 4, 4)))
    step(make, mla, 4, 4, step(make, mla, 4, 4, {}))


def edge_widths_of_one(make):
    """one head, and widths of 1 wherever they may be 1

    一个头，宽度能取 1 的都取 1
    """
    mla = layer(make, 1, 1, 1, 2, 1, 1, 1)
    make.method(mla, "forward", make.normal(2, 3, 1), at(make, make.integers(0, 9, 2, 3)))
    step(make, mla, 2, 1, step(make, mla, 2, 1, {}))


def edge_far_positions(make):
    """positions around 500, different in every row

    位置在 500 左右，各行不同
    """
    mla = layer(make, 5, 2, 3, 6, 2, 3, 4)
    make.method(mla, "forward", make.normal(2, 3, 5), at(make, [[498, 499, 500], [5, 6, 7]]))
    step(make, mla, 2, 5, step(make, mla, 2, 5, {}, torch.tensor([[501], [8]])), torch.tensor([[502], [9]]))


def edge_other_weights(make):
    """after an update of the weights, steps and passes go by the new ones

    权重更新之后，step 和 forward 都按新权重计算
    """
    mla = layer(make, *_SIZES)
    cache = {"c": make.normal(2, 3, 4), "kr": make.normal(2, 3, 4)}
    x, x_t, pos = make.normal(2, 2, _D), make.normal(2, 1, _D), at(make, [[0, 1], [2, 3]])
    for before in (make.method(mla, "forward", x, pos), make.method(mla, "step", x_t, pos[:, :1].clone(), cache)):
        make.compare(before, False)  # the update is in place: their graph is gone
    shapes = {"w_dq": (5, 2), "w_uq": (2, 3, 6), "w_uk": (4, 3, 2), "w_uv": (4, 3, 3), "w_o": (9, 5)}
    make.set(mla, {name: make.normal(*shape, grad=False) for name, shape in shapes.items()})
    make.method(mla, "step", x_t, pos[:, :1].clone(), cache)
    make.method(mla, "forward", x, pos)


def edge_small_activations(make):
    """activations near 0.001: the 1e-6 of the norms counts

    激活在 0.001 左右：归一化里的 1e-6 不可忽略
    """
    mla = layer(make, *_SIZES)
    make.method(mla, "forward", make.normal(2, 3, _D, scale=1e-3), at(make, make.integers(0, 9, 2, 3)))


def step_at(make, t, B=2):
    """One step behind t tokens, with many wide heads over a small latent."""
    mla = layer(make, 8, 4, 24, 2, 24, 4, 4)
    cache = {"c": make.normal(B, t, 4), "kr": make.normal(B, t, 2)}
    make.method(mla, "step", make.normal(B, 1, 8), torch.full((B, 1), t), cache)


_KEPT = {16: 3, 64: 2, 256: 1}  # tokens, and sequences: one alone has no batch to tell it from a view


def kept_at(make, t):
    step_at(make, t, _KEPT.get(t, 1))


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
        "real": {"size": 65_536, "en": "64k context", "zh": "64k 上下文"},
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
        "real": {"size": 65_536, "en": "64k context", "zh": "64k 上下文"},
        "case": kept_at,
        "sizes": tuple(_KEPT),
        "growth_at_most": 1.05,  # B·t·(r_kv + d_rope) numbers
        "says": {
            "en": "the cache keeps more memory alive than r_kv + d_rope numbers a token",
            "zh": "cache 占住的内存超过了每个 token r_kv + d_rope 个数",
        },
    },
]
