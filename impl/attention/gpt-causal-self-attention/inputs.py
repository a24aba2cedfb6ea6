"""Modules with weights set from outside, with and without biases, at every length up to the context and beyond."""

from __future__ import annotations

import torch

AXES = {
    "x": "B T D",
    "forward.return": "B T D",
    "c_attn.weight": "3D D",
    "c_attn.bias": "3D",
    "c_proj.weight": "D D",
    "c_proj.bias": "D",
}
SIZES = {"B": (1, 3), "T": (1, 5, 40), "H": (1, 3), "d": (1, 4, 36), "spare": (0, 3, 9)}
DERIVED = {"D": "H * d", "max_len": "T + spare"}
SIXTEEN_BITS = "native"
LARGE = 4.0  # activations and weights grow together, so the logits reach ±200
PROFILES = {"stable": ["large"]}
MODULES_UNCHANGED = True
HARDENED = {"edge_visible_scores_very_low"}


def module(make, D, H, max_len, *dropout, bias=True):
    """A module whose parameters are drawn."""
    made = make.new("CausalSelfAttention", D, H, max_len, *dropout, **({} if bias else {"bias": False}))
    scale = D**-0.5 + 0.2
    maps = {"c_attn.weight": make.normal(3 * D, D, scale=scale), "c_proj.weight": make.normal(D, D, scale=scale)}
    shifts = {"c_attn.bias": make.normal(3 * D, scale=0.5), "c_proj.bias": make.normal(D, scale=0.5)} if bias else {}
    make.set(made, {**maps, **shifts})
    return made


def case(make):
    """Without dropout as in training, with dropout in evaluation."""
    D, H, max_len = make.sizes("D", "H", "max_len")
    dropout = make.pick([(), (0.5,), (0.9,)])
    made = module(make, D, H, max_len, *dropout, bias=make.flag())
    if dropout:
        make.train(made, False)
    make.method(made, "forward", make.argument("x"))


def edge_visible_scores_very_low(make):
    """visible scores near −3·10⁴, and hidden ones of 3·10⁴: no finite value replaces −∞

    可见分数约 −3·10⁴，被掩码的有 3·10⁴：填任何有限值都代替不了 −∞
    """
    made = make.new("CausalSelfAttention", 1, 1, 4, 0.0, False)
    fused = make.keep(torch.tensor([[180.0], [-180.0], [1.0]]))
    make.set(made, {"c_attn.weight": fused, "c_proj.weight": make.keep(torch.ones(1, 1))})
    make.method(made, "forward", make.keep(torch.tensor([[[1.0], [1.001], [-1.0]]])))


def edge_parts(make):
    """state_dict holds c_attn and c_proj only, with biases or without, all of it trainable; the mask is a buffer

    state_dict 里只有 c_attn 和 c_proj，偏置可有可无，全部可训练；掩码是 buffer
    """
    for bias in (True, False):
        made = module(make, 6, 2, 7, bias=bias)
        make.method(made, "forward", make.normal(1, 3, 6))
        make.read(made, "state_dict")
        make.read(made, "trainable")
        make.judge(mask_among, make.read(made, "named_buffers"))


def mask_among(buffers):
    if any(tuple(buffer.shape[-2:]) == (7, 7) for buffer in buffers.values()):
        return None
    return (
        "no buffer holds a mask of 7 by 7: it must move with the module, and not be built anew",
        "没有哪个 buffer 存着 7 × 7 的掩码：它要随模块一起移动，而不是每次重建",
    )


def edge_two_modules(make):
    """two modules called in turns share nothing, and a call leaves no state behind, in training and in evaluation

    两个模块轮流调用，互不相干；不论训练还是评估，调用后模块里不留下状态
    """
    first, second = module(make, 4, 2, 6), module(make, 4, 1, 3, 0.5)
    x = make.normal(2, 3, 4)
    for tokens in (x, make.normal(1, 6, 4)):
        make.method(first, "forward", tokens)
    for training in (True, False):
        make.train(second, training)
        make.compare(make.method(second, "forward", x), not training)
    make.method(first, "forward", x)


def edge_too_long(make):
    """more tokens than max_len raise ValueError

    token 数超过 max_len 时抛 ValueError
    """
    made, one = module(make, 4, 2, 3), module(make, 4, 2, 1)
    make.method_raises(ValueError, made, "forward", make.normal(1, 4, 4))
    make.train(made, False)
    make.method_raises(ValueError, made, "forward", make.normal(2, 9, 4))
    make.method_raises(ValueError, one, "forward", make.normal(1, 2, 4))
    make.method(one, "forward", make.normal(1, 1, 4))


def edge_gradients_under_dropout(make):
    """dropout in training lets gradients through to x, to Q, K and V and to c_proj

    训练时有 dropout，梯度照样要传到 x、Q、K、V 和 c_proj
    """
    made = make.new("CausalSelfAttention", 4, 2, 9, dropout=0.2)
    x, fused, projection = make.normal(3, 8, 4), make.normal(12, 4, scale=0.7), make.normal(4, 4, scale=0.7)
    make.set(made, {"c_attn.weight": fused, "c_proj.weight": projection})
    make.train(made, True)

    def holds(y, x, fused, projection):
        parts = zip(("x", "Q", "K", "V", "c_proj"), (x, *fused.chunk(3), projection), strict=True)
        yield from (make.arrives(gradient, name) for name, gradient in parts)

    make.judge(holds, make.method(made, "forward", x), x, fused, projection)


def random(make):
    """Judge dropout on the attention weights: whole weights become 0, and the mean over many draws is kept.

    The first token has one weight, 1, per head: dropped, that head's whole slice is 0 (c_proj is the identity here).
    GPT-2's second dropout, behind c_proj, is allowed: it zeroes single components in addition.
    """
    p, H, d = make.pick([0.5, 0.3]), 2, 3
    D, kept = H * d, 1 / (1 - p)
    made = make.new("CausalSelfAttention", D, H, 4, p, False)
    make.set(made, {"c_attn.weight": make.normal(3 * D, D, scale=0.5), "c_proj.weight": make.keep(torch.eye(D))})
    x = make.normal(1, 3, D).detach()
    many, few, one = (make.keep(x.expand(count, 3, D).clone()) for count in (600, 20, 1))
    make.train(made, True)
    drawn, *twice = (make.method(made, "forward", x) for x in (many, few, few))
    make.train(made, False)

    def holds(drawn, calm):
        silent, value = (drawn.unflatten(-1, (H, d)) == 0).all(-1), calm[:, 0].double()  # (N, T, H), (1, D)
        for t in range(3):
            q, zh = p ** (t + 1), f"第 {t + 1} 个 token 全为 0 的头"
            yield make.share(silent[:, t], (q, q + (1 - q) * p**d), f"heads of token {t + 1} that are silent", zh)
        yield make.one_of(drawn[:, 0], 0.0, value * kept, value * kept**2)
        seen = silent[:, :2]
        yield make.independent(seen, seen.double().mean(0).expand(seen.shape), "batch", "queries", "heads")
        yield make.mean(drawn, calm)

    make.judge(make.other_draws, *twice)
    make.judge(holds, drawn, make.method(made, "forward", one))
