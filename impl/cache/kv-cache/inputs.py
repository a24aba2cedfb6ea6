"""Prefill and decode from nothing, in turns with another sequence, in two continuations of one past."""

from __future__ import annotations

import torch

_WEIGHTS = "wq wk wv wo".split()
AXES = {
    "x": "B T D",
    "x_t": "B ... D",
    **{f"params['{name}']": "D D" for name in _WEIGHTS},
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
    return {name: make.normal(D, D, scale=D**-0.5 + 0.2) for name in _WEIGHTS}


def past(make, B, H, t, d):
    return {name: make.normal(B, H, t, d) for name in "kv"}


def step(make, cache, params, H, B=None):
    """Decode one token after a cache; return the new cache."""
    B, D = B or make.size("B"), len(params["wq"])
    return make.call("decode_step", make.normal(B, 1, D), cache, params, H)[1]


def case(make):
    kind, (H, D) = make.pick(["two continuations", "from nothing", "in turns", "prompt"]), make.sizes("H", "D")
    params, cache = params_for(make, D), {}
    if kind != "from nothing":
        cache = make.call("prefill", make.argument("x"), params, H)[1]
    if kind == "in turns":  # with a sequence of another length and batch size
        other_B = make.size(1, 3)
        other = make.call("prefill", make.normal(other_B, make.size(1, 4), D), params, H)[1]
    for _ in range(0 if kind == "prompt" else make.size("steps")):
        cache = step(make, cache, params, H)
        if kind == "in turns":
            other = step(make, other, params, H, other_B)
    if kind == "two continuations":
        for one in (step(make, cache, params, H), step(make, cache, params, H), cache):
            step(make, one, params, H)


def edge_cache_from_elsewhere(make):
    """caches from elsewhere, of 5 and 300 tokens

    来自别处的 cache，5 个和 300 个 token
    """
    for t in (5, 300):
        step(make, past(make, 2, 3, t, 2), params_for(make, 6), 3, 2)


def edge_visible_scores_very_low(make):
    """visible scores near −3·10⁴, hidden ones of 3·10⁴: no finite value replaces −∞

    可见分数在 −3·10⁴ 附近，被屏蔽的是 3·10⁴：填任何有限值都代替不了 −∞
    """
    params = {
        name: make.keep(torch.tensor([[size]])) for name, size in zip(_WEIGHTS, (180.0, -180.0, 1.0, 1.0), strict=True)
    }
    make.call("prefill", make.keep(torch.tensor([[[1.0], [1.001], [-1.0]]])), params, 1)


def step_at(make, t, B=2):
    step(make, past(make, B, 4, t, 8), params_for(make, 32), 4, B)


def prompt_at(make, T, B=2):
    make.call("prefill", make.normal(B, T, 32), params_for(make, 32), 4)


_KEPT = {8: 3, 24: 2, 50: 1}  # tokens, and sequences: one alone has no batch to tell it from a view
CONTRACTS = [
    {
        "check": "work",
        "measure": "flops",
        "case": step_at,
        "sizes": (16, 64, 256),
        "growth_at_most": 2.5,  # joining the cache is cheap; projecting it again costs 20 times as much
        "says": {
            "en": "a step's work grows as if old keys and values were computed again",
            "zh": "单步计算量的增长，好像把旧的 key 和 value 又算了一遍",
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
                "en": "the cache takes more memory than its keys and values",
                "zh": "cache 占的内存超过 key 和 value 本身",
            },
        }
        for record in (prompt_at, step_at)
    ),
]
