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
SIXTEEN_BITS = "native"
LARGE = 4.0  # activations and weights grow together, so the logits reach ±200
PROFILES = {"stable": ["large"]}
MODULES_UNCHANGED = True  # a call leaves nothing in the module
HARDENED = {"edge_visible_scores_very_low"}


def module(make, D, H, max_len, *rest, bias=True, **named):
    """A module whose parameters are drawn; `rest` and `named` go to the constructor."""
    if not bias:
        named["bias"] = False
    made = make.new("CausalSelfAttention", D, H, max_len, *rest, **named)
    values = {
        "c_attn.weight": make.normal(3 * D, D, scale=D**-0.5 + 0.2),
        "c_proj.weight": make.normal(D, D, scale=D**-0.5 + 0.2),
    }
    if bias:
        values["c_attn.bias"] = make.normal(3 * D, scale=0.5)
        values["c_proj.bias"] = make.normal(D, scale=0.5)
    make.set(made, values)
    return made


def case(make):
    B, T, H, d = make.size(1, 3), make.size(1, 5), make.size(1, 3), make.size(1, 4)
    max_len, bias = T + make.size(0, 3), make.flag()
    kind = make.pick(["plain", "evaluation", "several", "too long", "parts"])
    if kind == "evaluation":
        made = module(make, H * d, H, max_len, make.pick([0.5, 0.9, 0.1]), bias=bias)
        make.train(made, False)
        make.method(made, "forward", make.normal(B, T, H * d))
        return
    made = module(make, H * d, H, max_len, bias=bias)
    make.method(made, "forward", make.normal(B, T, H * d))
    if kind == "several":
        make.method(made, "forward", make.normal(B, max_len, H * d))
        make.method(made, "forward", make.normal(1, 1, H * d))
    elif kind == "too long":
        make.method_raises(ValueError, made, "forward", make.normal(B, max_len + 1, H * d))
    elif kind == "parts":
        parts(make, made, max_len)


def parts(make, made, max_len):
    """What a checkpoint holds, and the mask among the buffers."""
    make.read(made, "state_dict")
    make.read(made, "trainable")
    buffers = make.read(made, "named_buffers")
    make.compare(buffers, False)
    make.property(lambda outcomes: mask_among(outcomes[buffers.step], max_len))


def mask_among(buffers, max_len):
    for buffer in buffers.values():
        if tuple(buffer.shape[-2:]) == (max_len, max_len):
            return None
    return (
        f"no buffer holds a mask of {max_len} by {max_len}: it must move with the module, and not be built anew",
        f"没有哪个 buffer 存着 {max_len} × {max_len} 的掩码：它要随模块一起移动，而不是每次重建",
    )


def edge_one_token(make):
    """one token attends to itself

    只有一个 token：只看自己
    """
    make.method(module(make, 6, 3, 4), "forward", make.normal(2, 1, 6))


def edge_full_context(make):
    """T = max_len still fits

    T = max_len 正好放得下
    """
    make.method(module(make, 6, 2, 5), "forward", make.normal(2, 5, 6))


def edge_shorter_than_the_context(make):
    """three tokens in a context of nine see what three tokens see

    上下文长 9，输入三个 token：看到的和上下文长 3 时一样
    """
    make.method(module(make, 4, 2, 9), "forward", make.normal(2, 3, 4))


def edge_visible_scores_very_low(make):
    """visible scores near −3·10⁴, and hidden ones of 3·10⁴: no constant stands for −∞

    可见分数约 −3·10⁴，被挡的有 3·10⁴：任何常数都代替不了 −∞
    """
    made = make.new("CausalSelfAttention", 1, 1, 4, 0.0, False)
    fused = make.keep(torch.tensor([[180.0], [-180.0], [1.0]]))
    make.set(made, {"c_attn.weight": fused, "c_proj.weight": make.keep(torch.ones(1, 1))})
    make.method(made, "forward", make.keep(torch.tensor([[[1.0], [1.001], [-1.0]]])))


def edge_one_head(make):
    """H = 1

    H = 1：只有一个头
    """
    make.method(module(make, 5, 1, 6), "forward", make.normal(2, 4, 5))


def edge_as_many_heads_as_width(make):
    """H = D: heads of width 1

    H = D：每个头宽 1
    """
    make.method(module(make, 5, 5, 6), "forward", make.normal(2, 4, 5))


def edge_without_bias(make):
    """bias=False leaves out both biases

    bias=False：两个偏置都没有
    """
    made = module(make, 6, 3, 5, bias=False)
    make.method(made, "forward", make.normal(2, 4, 6))
    parts(make, made, 5)


def edge_parts(make):
    """state_dict holds c_attn and c_proj only, all of it trainable; the mask is a buffer

    state_dict 里只有 c_attn 和 c_proj，全部可训练；掩码是 buffer
    """
    made = module(make, 6, 2, 7)
    parts(make, made, 7)
    make.method(made, "forward", make.normal(1, 3, 6))
    parts(make, made, 7)


def edge_a_call_changes_nothing(make):
    """what the module holds is after a call what it was before, in training and in evaluation

    不论训练还是评估，模块里的东西在调用前后都不变
    """
    made = module(make, 6, 2, 7, 0.5)
    for training in (True, False):
        make.train(made, training)
        make.compare(make.method(made, "forward", make.normal(1, 3, 6)), training is False)


def edge_many_wide_tokens(make):
    """20 tokens, six heads of ten, in training and in evaluation

    20 个 token，六个宽 10 的头，训练和评估各一次
    """
    made = module(make, 60, 6, 24)
    x = make.normal(2, 20, 60, scale=0.7)
    make.method(made, "forward", x)
    make.train(made, False)
    make.method(made, "forward", x)


def edge_gradients_under_dropout(make):
    """dropout in training lets gradients through to x, to Q, K and V and to c_proj

    训练时有 dropout，梯度照样要传到 x、Q、K、V 和 c_proj
    """
    made = make.new("CausalSelfAttention", 4, 2, 9, 0.2)
    x, fused = make.normal(3, 8, 4), make.normal(12, 4, scale=0.7)
    make.set(made, {"c_attn.weight": fused, "c_proj.weight": make.normal(4, 4, scale=0.7)})
    make.train(made, True)
    make.compare(make.method(made, "forward", x), False)
    make.gradient_property(lambda outcomes, gradients: reaches_all(gradients))


def reaches_all(gradients):
    for gradient in gradients:
        rows = gradient.unflatten(0, (3, -1)) if tuple(gradient.shape) == (12, 4) else gradient[None]
        if not all(bool((part != 0).any()) for part in rows):
            return (
                "under dropout no gradient arrives at one of x, Q, K, V and c_proj",
                "有 dropout 时，x、Q、K、V、c_proj 中有一处收不到梯度",
            )
    return None


def edge_too_long(make):
    """more tokens than max_len raise ValueError

    token 数超过 max_len 时抛 ValueError
    """
    made = module(make, 4, 2, 3)
    make.method_raises(ValueError, made, "forward", make.normal(1, 4, 4))
    make.train(made, False)
    make.method_raises(ValueError, made, "forward", make.normal(2, 9, 4))
    make.method_raises(ValueError, made, "forward", make.normal(1, 4, 4))
    one = module(make, 4, 2, 1)
    make.method_raises(ValueError, one, "forward", make.normal(1, 2, 4))
    make.method(one, "forward", make.normal(1, 1, 4))


def edge_dropout_in_evaluation(make):
    """dropout=0.9 does nothing in evaluation, and dropout=0 nothing in training

    dropout=0.9 在评估时不起作用，dropout=0 在训练时也不起作用
    """
    made = module(make, 6, 3, 5, 0.9)
    make.train(made, False)
    make.method(made, "forward", make.normal(2, 4, 6))
    silent = module(make, 6, 3, 5, dropout=0.0)
    make.train(silent, True)
    make.method(silent, "forward", make.normal(2, 4, 6))


def edge_two_modules(make):
    """two modules in turns have nothing in common

    两个模块轮流调用，互不相干
    """
    first, second = module(make, 4, 2, 6), module(make, 4, 1, 3)
    x = make.normal(2, 3, 4)
    make.method(first, "forward", x)
    make.method(second, "forward", x)
    make.method(first, "forward", x)


def random(make):
    """Dropout on the attention weights: whole weights vanish, and the mean over many draws stays."""
    p, H, d, N = make.pick([0.5, 0.3]), 2, 3, 600
    D = H * d
    made = make.new("CausalSelfAttention", D, H, 4, p, False)
    make.set(made, {"c_attn.weight": make.normal(3 * D, D, scale=0.5), "c_proj.weight": make.keep(torch.eye(D))})
    x = make.normal(1, 3, D).detach()
    many, few, one = (make.keep(x.expand(count, 3, D).clone()) for count in (N, 20, 1))
    make.train(made, True)
    drawn, *twice = (make.method(made, "forward", x) for x in (many, few, few))
    make.train(made, False)
    calm = make.method(made, "forward", one)
    for handle in (drawn, *twice):
        make.compare(handle, False)

    def holds(outcomes):
        if torch.equal(*(outcomes[handle.step] for handle in twice)):
            return (
                "two calls in training gave the same: dropout has to draw anew each time",
                "训练时两次调用结果相同：dropout 每次都要重新抽",
            )
        return dropped(outcomes[drawn.step], outcomes[calm.step], p, d)

    make.property(holds)


def dropped(drawn, calm, p, d):
    """The first token has one weight, 1, per head: dropped, that head's whole slice is 0 (c_proj is the identity here).

    GPT-2's second dropout, behind c_proj, is allowed: it zeroes single components on top.
    """
    drawn, calm = drawn.detach().double(), calm.detach().double()
    silent = (drawn.unflatten(-1, (-1, d)) == 0).all(-1)  # (N, T, H)
    rate, n = float(silent[:, 0].double().mean()), silent[:, 0].numel()
    slack = 5 * (p * (1 - p) / n) ** 0.5
    if not p - slack < rate < p + (1 - p) * p**d + slack:
        return (
            f"dropout {p} on the attention weights must silence a head of the first token in that share; seen: {rate:.3f}",
            f"注意力权重上的 dropout 是 {p}，第一个 token 的头应有这么大比例全为 0，实际为 {rate:.3f}",
        )
    ratio, levels = drawn[:, 0] / calm[:, 0], torch.tensor([0.0, 1 / (1 - p), 1 / (1 - p) ** 2], dtype=torch.float64)
    if bool(((ratio[..., None] - levels).abs().amin(-1) > 1e-3).any()):
        return (
            "what the first token keeps must be its value over 1 − p: only weights are dropped, not inputs or values",
            "第一个 token 留下的应是它的 value 除以 1 − p：丢的只是权重，不是输入或 value",
        )
    return apart(silent, p, d) or mean_kept(drawn, calm)


def apart(silent, p, d):
    """Every weight is dropped on its own: not a query's whole row, not a key for all queries, not for all heads."""
    rate = float(silent[:, 2].double().mean())
    if rate > p**3 + (1 - p**3) * p**d + 5 * (0.25 / silent[:, 2].numel()) ** 0.5:
        return (
            f"the third token has three weights a head, and loses them all in a share of {rate:.3f}: whole rows are dropped",
            f"第三个 token 每个头有三个权重，三个一起丢的比例却有 {rate:.3f}：丢的是整行",
        )
    pairs = {("heads", "头"): (silent[:, 0, 0], silent[:, 0, 1]), ("queries", " query "): (silent[:, 0], silent[:, 1])}
    for (name, zh), (one, other) in pairs.items():
        a, b = one.double().flatten(), other.double().flatten()
        a, b = a - a.mean(), b - b.mean()
        if float((a * b).sum().abs()) > 5 * a.numel() ** -0.5 * float(a.norm() * b.norm()):
            return f"the weights of different {name} are not dropped independently", f"不同{zh}的权重不是独立丢掉的"
    return None


def mean_kept(drawn, calm):
    error = (drawn.mean(0) - calm.mean(0)).abs()
    spread = drawn.std(0) / drawn.shape[0] ** 0.5 + 1e-6
    if bool((error > 6 * spread).any()):
        return (
            "the mean over many draws must be what evaluation gives: scale what is kept by 1/(1 − p)",
            "多次抽取的均值应等于评估时的结果：保留的要乘以 1/(1 − p)",
        )
    return None
