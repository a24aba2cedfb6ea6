"""Prefill and decode in every order: from nothing, in turns with another sequence, two continuations of one past."""

from __future__ import annotations

import torch

AXES = {
    "x": "B T D",
    "x_t": "B ... D",
    **{f"params['{name}']": "D D" for name in ("wq", "wk", "wv", "wo")},
    **{f"cache['{name}']": "B H t d" for name in "kv"},
    "prefill.return[0]": "B T D",
    **{f"prefill.return[1]['{name}']": "B H T d" for name in "kv"},
    "decode_step.return[0]": "B ... D",
    **{f"decode_step.return[1]['{name}']": "B H t+1 d" for name in "kv"},
}
SIZES = {"T": (1, 5, 130), "steps": (1, 2), "H": (1, 3), "d": (1, 4, 40), "B": (1, 3)}
DERIVED = {"D": "H * d"}
SIXTEEN_BITS = "native"
LARGE = 4.0  # activations and weights grow together, so the logits reach ±200
PROFILES = {"stable": ["large"]}
HARDENED = {"edge_visible_scores_very_low", "edge_cache_from_elsewhere"}


def params_for(make, D):
    return {name: make.normal(D, D, scale=D**-0.5 + 0.2) for name in ("wq", "wk", "wv", "wo")}


def step(make, cache, params, H, B=None):
    """One token behind a cache; the cache it returns."""
    B, D = B or make.size("B"), len(params["wq"])
    return make.call("decode_step", make.normal(B, 1, D), cache, params, H)[1]


def case(make):
    kind, (H, D) = make.pick(["two continuations", "from nothing", "in turns", "prompt"]), make.sizes("H", "D")
    params, cache = params_for(make, D), {}
    if kind != "from nothing":
        cache = make.call("prefill", make.argument("x"), params, H)[1]
    if kind == "in turns":  # with a second sequence of another length and batch size
        other_B = make.size(1, 3)
        other = make.call("prefill", make.normal(other_B, make.size(1, 4), D), params, H)[1]
    for _ in range(0 if kind == "prompt" else make.size("steps")):
        cache = step(make, cache, params, H)
        if kind == "in turns":
            other = step(make, other, params, H, other_B)
    if kind == "two continuations":
        left, _ = step(make, cache, params, H), step(make, cache, params, H)
        for one in (left, cache):
            step(make, one, params, H)


def edge_cache_from_elsewhere(make):
    """a cache that this code did not make: everything it needs is in there, however long

    cache 来自别处，不是这份代码生成的：需要的都在里面，多长都行
    """
    params = params_for(make, 6)
    for t in (5, 300):
        cache = {"k": make.normal(2, 3, t, 2), "v": make.normal(2, 3, t, 2)}
        for _ in range(2):
            step(make, cache, params, 3, 2)


def edge_visible_scores_very_low(make):
    """visible scores near −3·10⁴, and hidden ones of 3·10⁴: no constant stands for −∞

    可见分数在 −3·10⁴ 附近，被掩掉的是 3·10⁴：什么常数都代替不了 −∞
    """
    size = {"wq": 180.0, "wk": -180.0, "wv": 1.0, "wo": 1.0}
    params = {name: make.keep(torch.full((1, 1), value)) for name, value in size.items()}
    make.call("prefill", make.keep(torch.tensor([[[1.0], [1.001], [-1.0]]])), params, 1)


def edge_two_models(make):
    """two sets of weights and head counts over equal shapes do not meet

    形状相同，权重和头数各有两套：互不影响
    """
    x, x_t = make.normal(2, 3, 6), make.normal(2, 1, 6)
    for n_heads in (2, 3):
        params = params_for(make, 6)
        first = make.call("prefill", x, params, n_heads)
        make.call("decode_step", x_t, first[1], params, n_heads)


def step_at(make, t, B=2):
    """One step behind a cache of `t` tokens."""
    step(make, {"k": make.normal(B, 4, t, 8), "v": make.normal(B, 4, t, 8)}, params_for(make, 32), 4, B)


def prompt_at(make, T, B=2):
    make.call("prefill", make.normal(B, T, 32), params_for(make, 32), 4)


_KEPT = {8: 3, 24: 2, 50: 1}  # tokens, and sequences: one alone has no batch to tell it from a view
CONTRACTS = [
    {
        "check": "work",
        "measure": "flops",
        "case": step_at,
        "sizes": (16, 64, 256),
        "growth_at_most": 2.5,  # joining and re-laying out the cache is cheap; projecting it again is 20 times as much
        "says": {
            "en": "the work of one step grows with the prefix as if old keys and values were computed again",
            "zh": "单步的计算量随前缀增长，好像把旧的 key 和 value 又算了一遍",
        },
    },
    *(
        {
            "check": "memory",
            "measure": "returned",
            "from_nothing": True,
            "real": {"size": 65_536, "en": "64k context", "zh": "64k 上下文"},
            "case": lambda make, size, record=record: record(make, size, _KEPT.get(size, 1)),
            "sizes": tuple(_KEPT),
            "growth_at_most": 1.05,  # 2·B·t·D numbers, and y
            "says": {
                "en": "the cache keeps more memory alive than its keys and values need",
                "zh": "cache 占住的内存超过了 key 和 value 本身",
            },
        }
        for record in (prompt_at, step_at)
    ),
]
