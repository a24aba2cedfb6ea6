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
    """visible scores near −3·10⁴, and hidden ones of 3·10⁴: no constant stands for −∞

    可见分数约 −3·10⁴，被挡的有 3·10⁴：任何常数都代替不了 −∞
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
        buffers = make.read(made, "named_buffers")
        make.compare(buffers, False)
        make.property(lambda outcomes, step=buffers.step: mask_among(outcomes[step], 7))


def mask_among(buffers, max_len):
    for buffer in buffers.values():
        if tuple(buffer.shape[-2:]) == (max_len, max_len):
            return None
    return (
        f"no buffer holds a mask of {max_len} by {max_len}: it must move with the module, and not be built anew",
        f"没有哪个 buffer 存着 {max_len} × {max_len} 的掩码：它要随模块一起移动，而不是每次重建",
    )


def edge_two_modules(make):
    """two modules in turns have nothing in common, and a call leaves nothing in its own, in training and in evaluation

    两个模块轮流调用，互不相干；不论训练还是评估，调用后模块里不留下任何东西
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
