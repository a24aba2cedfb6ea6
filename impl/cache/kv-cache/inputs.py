"""Prefill and decode in every order: from nothing, in turns with another sequence, two continuations of one past."""

from __future__ import annotations

import torch

AXES = {
    "x": "B T D",
    "x_t": "B ... D",
    "params['wq']": "D D",
    "params['wk']": "D D",
    "params['wv']": "D D",
    "params['wo']": "D D",
    "cache['k']": "B H t d",
    "cache['v']": "B H t d",
    "prefill.return[0]": "B T D",
    "prefill.return[1]['k']": "B H T d",
    "prefill.return[1]['v']": "B H T d",
    "decode_step.return[0]": "B ... D",
    "decode_step.return[1]['k']": "B H t+1 d",
    "decode_step.return[1]['v']": "B H t+1 d",
}
SIXTEEN_BITS = "native"
LARGE = 4.0  # activations and weights grow together, so the logits reach ±200
PROFILES = {"stable": ["large"]}
HARDENED = {"edge_visible_scores_very_low", "edge_cache_from_elsewhere"}


def params_for(make, D):
    return {name: make.normal(D, D, scale=D**-0.5 + 0.2) for name in ("wq", "wk", "wv", "wo")}


def case(make):
    B, H, d, T = make.size(1, 3), make.size(1, 3), make.size(1, 4), make.size(1, 5)
    D = H * d
    params = params_for(make, D)
    kind = make.pick(["prefill", "decode", "from nothing", "branches", "two sequences", "given"])
    if make.profile == "meta":
        make.call("decode_step", make.normal(B, 1, D), {}, params, H)
        make.call(
            "decode_step", make.normal(B, 1, D), make.call("prefill", make.normal(B, T, D), params, H)[1], params, H
        )
        return
    if kind == "given":
        cache = {"k": make.normal(B, H, T, d), "v": make.normal(B, H, T, d)}
        second = make.call("decode_step", make.normal(B, 1, D), cache, params, H)
        make.call("decode_step", make.normal(B, 1, D), second[1], params, H)
        return
    if kind == "from nothing":
        cache = {}
        for _ in range(T):
            cache = make.call("decode_step", make.normal(B, 1, D), cache, params, H)[1]
        return
    first = make.call("prefill", make.normal(B, T, D), params, H)
    if kind == "decode":
        cache = first[1]
        for _ in range(make.size(1, 4)):
            cache = make.call("decode_step", make.normal(B, 1, D), cache, params, H)[1]
    elif kind == "branches":
        branches(make, first[1], B, D, params, H)
    elif kind == "two sequences":
        in_turns(make, first[1], B, D, params, H)


def branches(make, cache, B, D, params, H):
    """Two continuations of one cache, and then the cache once more."""
    left = make.call("decode_step", make.normal(B, 1, D), cache, params, H)
    right = make.call("decode_step", make.normal(B, 1, D), cache, params, H)
    make.call("decode_step", make.normal(B, 1, D), left[1], params, H)
    make.call("decode_step", make.normal(B, 1, D), right[1], params, H)
    make.call("decode_step", make.normal(B, 1, D), cache, params, H)


def in_turns(make, cache, B, D, params, H):
    """A second sequence of another length and batch size, decoded in turns with the first."""
    other_batch = make.size(1, 3)
    other = make.call("prefill", make.normal(other_batch, make.size(1, 4), D), params, H)[1]
    for _ in range(2):
        cache = make.call("decode_step", make.normal(B, 1, D), cache, params, H)[1]
        other = make.call("decode_step", make.normal(other_batch, 1, D), other, params, H)[1]


def edge_from_nothing(make):
    """decoding starts from {}: the first token sees itself

    从 {} 开始解码：第一个 token 看得到自己
    """
    params = params_for(make, 6)
    first = make.call("decode_step", make.normal(2, 1, 6), {}, params, 3)
    second = make.call("decode_step", make.normal(2, 1, 6), first[1], params, 3)
    make.call("decode_step", make.normal(2, 1, 6), second[1], params, 3)


def edge_cache_from_elsewhere(make):
    """a cache that this code did not make: everything it needs is in there

    cache 来自别处，不是这份代码生成的：需要的都在里面
    """
    params = params_for(make, 6)
    cache = {"k": make.normal(2, 3, 5, 2), "v": make.normal(2, 3, 5, 2)}
    make.call("decode_step", make.normal(2, 1, 6), cache, params, 3)
    make.call("decode_step", make.normal(2, 1, 6), cache, params, 3)


def edge_head_counts(make):
    """a prompt of one token; one head; as many heads as the width: each with one step behind it

    提示只有一个 token；只有一个头；头数等于宽度 D：之后各解码一步
    """
    for B, T, D, H in ((1, 1, 4, 2), (2, 3, 5, 1), (3, 2, 5, 5)):
        params = params_for(make, D)
        first = make.call("prefill", make.normal(B, T, D), params, H)
        make.call("decode_step", make.normal(B, 1, D), first[1], params, H)


def edge_prefill_is_causal(make):
    """the prompt itself: no token sees a later one

    提示本身：每个 token 都看不到后面的
    """
    make.call("prefill", make.normal(2, 7, 6), params_for(make, 6), 2)


def edge_visible_scores_very_low(make):
    """visible scores near −3·10⁴, and hidden ones of 3·10⁴: no constant stands for −∞

    可见分数在 −3·10⁴ 附近，被掩掉的是 3·10⁴：什么常数都代替不了 −∞
    """
    size = {"wq": 180.0, "wk": -180.0, "wv": 1.0, "wo": 1.0}
    params = {name: make.keep(torch.full((1, 1), value)) for name, value in size.items()}
    make.call("prefill", make.keep(torch.tensor([[[1.0], [1.001], [-1.0]]])), params, 1)


def edge_step_by_step_is_prefill(make):
    """the same tokens once in one pass, once one by one

    同样的 token，一次读完和逐个解码各做一遍
    """
    params = params_for(make, 6)
    tokens = [make.normal(2, 1, 6) for _ in range(4)]
    make.call("prefill", join(make, tokens), params, 3)
    cache = make.call("prefill", join(make, tokens[:2]), params, 3)[1]
    cache = make.call("decode_step", tokens[2], cache, params, 3)[1]
    make.call("decode_step", tokens[3], cache, params, 3)


def join(make, tokens):
    return make.keep(torch.cat([token.detach() for token in tokens], 1), grad=True)


def edge_two_continuations(make):
    """two continuations of one cache are independent, and the cache is still what it was

    同一个 cache 的两条续写互不影响，cache 本身保持原样
    """
    params = params_for(make, 4)
    first = make.call("prefill", make.normal(2, 3, 4), params, 2)
    branches(make, first[1], 2, 4, params, 2)


def edge_in_turns(make):
    """two sequences of different lengths and batch sizes, decoded in turns

    两条序列长度和 batch 大小都不同，交替解码
    """
    params = params_for(make, 6)
    first = make.call("prefill", make.normal(2, 4, 6), params, 3)
    in_turns(make, first[1], 2, 6, params, 3)


def edge_two_models(make):
    """two sets of weights and head counts over equal shapes do not meet

    形状相同，权重和头数各有两套：互不影响
    """
    x, x_t = make.normal(2, 3, 6), make.normal(2, 1, 6)
    for n_heads in (2, 3):
        params = params_for(make, 6)
        first = make.call("prefill", x, params, n_heads)
        make.call("decode_step", x_t, first[1], params, n_heads)


def edge_long_past(make):
    """a step behind a prompt of 50 tokens, and one behind a cache of 300: the first ones count as the last ones do

    在 50 个 token 的提示、300 个 token 的 cache 之后各解码一步：最前面的与最后面的同样算数
    """
    params = params_for(make, 4)
    cache = make.call("prefill", make.normal(1, 50, 4), params, 2)[1]
    make.call("decode_step", make.normal(1, 1, 4), cache, params, 2)
    cache = {"k": make.normal(1, 2, 300, 2), "v": make.normal(1, 2, 300, 2)}
    make.call("decode_step", make.normal(1, 1, 4), cache, params, 2)


def step_at(make, size, B=2):
    """One step behind a cache of `size` tokens."""
    cache = {"k": make.normal(B, 4, size, 8), "v": make.normal(B, 4, size, 8)}
    make.call("decode_step", make.normal(B, 1, 32), cache, params_for(make, 32), 4)


_KEPT = {8: 3, 24: 2, 50: 1}  # tokens, and sequences: one alone has no batch to tell it from a view


def kept_by_step_at(make, size):
    step_at(make, size, _KEPT.get(size, 1))


def kept_by_prompt_at(make, size):
    """A prompt of `size` tokens."""
    make.call("prefill", make.normal(_KEPT.get(size, 1), size, 32), params_for(make, 32), 4)


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
            "case": record,
            "sizes": tuple(_KEPT),
            "growth_at_most": 1.05,  # 2·B·t·D numbers, and y
            "says": {
                "en": "the cache keeps more memory alive than its keys and values need",
                "zh": "cache 占住的内存超过了 key 和 value 本身",
            },
        }
        for record in (kept_by_prompt_at, kept_by_step_at)
    ),
]
