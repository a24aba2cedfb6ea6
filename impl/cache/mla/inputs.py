"""All widths unequal, positions anywhere, steps from nothing and in branches."""

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
# torch makes no complex numbers of odd slices of one row: B is 2 at least
SIZES = {"steps": (1, 2), "T": (1, 5), "B": (2, 3), "D": (1, 5), "H": (1, 4), "pairs": (1, 3)}
SIZES |= dict.fromkeys("d_nope d_v r_kv r_q".split(), (1, 4))
DERIVED = {"d_rope": "2 * pairs", "H·d_v": "H * d_v"}
SIXTEEN_BITS = "native"
MODULES_UNCHANGED = True
LARGE = 3.0  # activations and weights grow together, so the logits reach ±200
PROFILES = {"stable": ["large"]}
HARDENED = {"edge_cache_from_elsewhere"}
WITHOUT_MOTIFS = {"one"}  # nine sizes, each drawn from 1 on


def layer(make):
    made = make.new("MLA", *make.sizes(*"D H d_nope d_rope d_v r_kv r_q".split()))
    names = "w_dq w_uq w_dkv w_kr w_uk w_uv w_o".split()
    weights = {name: make.argument(name, scale=make.shape(name)[0] ** -0.5 + 0.2) for name in names}
    gains = {name: make.uniform(*make.shape(name), low=0.5, high=2.0) for name in ("g_q", "g_kv")}
    make.set(made, weights | gains)
    return made


def at(make, pos):
    """Return `pos`, or 0 for every token in float64, where angles may be float32."""
    return torch.as_tensor(pos) * (make.profile != "float64")


def places(make, T):
    """Positions per row: in order, anywhere, or far out, where 16 bits hold no position of thousands."""
    B, far = make.size("B"), make.pick([1, 0, 5000 if make.dtype.itemsize == 2 else 60])
    return at(make, make.integers(0, far, B, 1) + torch.arange(T) if far else make.integers(0, 40, B, T))


def case(make):
    kind, mla, cache = make.pick(["forward", "steps"]), layer(make), {}
    if kind == "forward":
        make.read(mla, "trainable")
        make.method(mla, "forward", make.argument("x"), places(make, make.size("T")))
        return
    branching = make.flag()
    for _ in range(make.size("steps")):
        cache = step(make, mla, cache)
    if branching:
        for other in (step(make, mla, cache), step(make, mla, cache), cache):
            step(make, mla, other)


def step(make, mla, cache, pos=None):
    """Run one step; return the new cache."""
    B, D = make.sizes("B", "D")
    pos = places(make, 1) if pos is None else at(make, pos)
    return make.method(mla, "step", make.normal(B, 1, D), pos, cache)[1]


def past(make, t):
    B, r_kv, d_rope = make.sizes("B", "r_kv", "d_rope")
    return {"c": make.normal(B, t, r_kv), "kr": make.normal(B, t, d_rope)}


def edge_order_and_positions(make):
    """36 tokens: none sees a later one, whatever pos says

    36 个 token：不管 pos 是什么，都看不到后面的
    """
    make.hold(B=2, T=36)
    back = 35 - torch.arange(36)
    make.method(layer(make), "forward", make.argument("x"), at(make, torch.stack([back, back * 7 % 11])))


def edge_one_token_far_out(make):
    """one sequence of one token near position 500: forward, and steps from {}

    一条序列、一个 token，位置在 500 左右：forward，以及从 {} 开始的 step
    """
    B = 2 if make.profile == "strided" else 1
    make.hold(B=B, T=1)
    mla, cache = layer(make), {}
    make.method(mla, "forward", make.argument("x"), at(make, [[498]] * B))
    for pos in (498, 501, 500):
        cache = step(make, mla, cache, [[pos]] * B)


def edge_cache_from_elsewhere(make):
    """a cache of 70 tokens from elsewhere: latents normed, keys turned

    来自别处的 70 个 token 的 cache：潜在向量已归一化，key 已旋转
    """
    step(make, layer(make), past(make, 70))


def edge_small_activations(make):
    """activations near 0.001: the norms' 1e-6 counts

    激活在 0.001 左右：归一化里的 1e-6 不可忽略
    """
    make.method(layer(make), "forward", make.argument("x", scale=1e-3), places(make, make.size("T")))


def step_at(make, t, B=2):
    """Many wide heads over a small latent."""
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
            "en": "a step's work grows as if the past were expanded for every head",
            "zh": "单步计算量的增长，好像为每个头展开了前缀",
        },
    },
    {
        "check": "memory",
        "measure": "largest",
        "real": _REAL,
        "case": step_at,
        "sizes": (16, 64, 256),
        "growth_at_most": 1.0,
        "bound": lambda t: 2 * t * 4 * (4 + 2 + 4),  # B·t·H·(r_kv + d_rope) and some, not B·t·H·24
        "says": {
            "en": "a step makes a key or value per head and past token",
            "zh": "单步里按头、按过去 token 展开了 key 或 value",
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
            "en": "the cache takes more memory than r_kv + d_rope numbers a token",
            "zh": "cache 占的内存超过每个 token r_kv + d_rope 个数",
        },
    },
]
