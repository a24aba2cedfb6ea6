"""Modules whose mixing matrix and weights are set from outside, and matrices as they were drawn."""

from __future__ import annotations

import itertools

import torch

AXES = {"x": "B T D", "forward.return": "B T D", "w_v": "D D", "w_o": "D D", "mix": "H max_len max_len"}
SIZES = {"B": (1, 3), "T": (1, 5, 40), "H": (1, 3), "d": (1, 4, 36), "spare": (0, 3, 9)}
DERIVED = {"D": "H * d", "max_len": "T + spare"}
SIXTEEN_BITS = "native"
MODULES_UNCHANGED = True


def module(make, D, H, max_len, seed=0):
    """Set `mix` instead of drawing it: any lower triangular matrix will do."""
    made = make.new("MixiTAttention", D, H, max_len, seed)
    rows = torch.arange(1, max_len + 1, dtype=torch.float64)[:, None]
    mix = make.keep((make.normal(H, max_len, max_len, grad=False).double() / rows.sqrt()).tril())
    scale = D**-0.5 + 0.2
    make.set(made, {"mix": mix, "w_v": make.normal(D, D, scale=scale), "w_o": make.normal(D, D, scale=scale)})
    return made


def case(make):
    made = module(make, *make.sizes("D", "H", "max_len"), make.pick([0, 3, 2**31 - 1]))
    make.train(made, make.flag())
    make.method(made, "forward", make.argument("x"))


def edge_parts(make):
    """w_v and w_o alone train; mix is a buffer

    可训练的只有 w_v 和 w_o；mix 是 buffer
    """
    made = module(make, 6, 2, 7)
    make.method(made, "forward", make.normal(1, 3, 6))
    make.judge(two_weights, make.read(made, "trainable"))
    make.judge(mix_among, make.read(made, "named_buffers"))


def two_weights(trainable):
    if sorted(name.removesuffix(".weight") for name in trainable) == ["w_o", "w_v"]:
        return None
    return f"trains {trainable}, not w_v and w_o alone", f"可训练的是 {trainable}，应当只有 w_v、w_o"


def mix_among(buffers):
    if "mix" in buffers:
        return None
    return (
        "no buffer is called mix: it would stay behind when the module moves",
        "没有名为 mix 的 buffer：模块移动时它会留在原处",
    )


def edge_a_full_matrix(make):
    """the buffer is set to a full matrix: forward reads it as it is

    buffer 被换成满矩阵：forward 照用
    """
    made = make.new("MixiTAttention", 4, 2, 5, 0)
    weights = {name: make.normal(4, 4, scale=0.7) for name in ("w_v", "w_o")}
    make.set(made, {"mix": make.keep(make.normal(2, 5, 5, grad=False).double()), **weights})
    for T in (5, 3):
        make.method(made, "forward", make.normal(2, T, 4))


def edge_tokens_in_turns(make):
    """one module at several lengths, another one in between: a call leaves no state behind

    同一模块先后用于不同长度，中间穿插另一个模块：调用后不留下状态
    """
    first, second = module(make, 4, 2, 6), module(make, 4, 1, 6, 1)
    x = make.normal(2, 6, 4)
    for tokens in (x, make.normal(2, 3, 4), x):
        make.method(first, "forward", tokens)
        make.method(second, "forward", tokens)


def random(make):
    """Matrices as drawn: two of one seed under other states of torch's generator, and one of the next."""
    H, max_len, seed = 4, 48, make.pick([0, 7, 2**31 - 1])
    made = [make.new("MixiTAttention", 8, H, max_len, s) for s in (seed, seed, seed + 1)]
    first, again, other = (make.read(each, "mix") for each in made)
    make.judge(lambda mix: well_drawn(make, mix), first)
    make.judge(make.same_draws, first, again)
    make.judge(lambda mix, of_next: differ(mix, of_next), first, other)


def well_drawn(make, mix):
    rows, columns = torch.tril_indices(*mix.shape[1:])
    if bool(mix.triu(1).count_nonzero()):
        yield (
            "mix has entries above its diagonal: a token mixes later ones in",
            "mix 的对角线上方有非零元素：token 混入了后面的内容",
        )
    if any(torch.equal(a, b) for a, b in itertools.pairwise(mix)):
        yield "two heads have the same matrix", "有两个头的矩阵相同"
    unit = mix.double()[:, rows, columns] * (rows + 1).sqrt()  # N(0, 1)
    yield make.share(unit.abs() < 1, 0.682689, "entries within 1/√(i+1)", "绝对值小于 1/√(i+1) 的元素")
    yield make.share(unit < 0, 0.5, "entries below 0", "小于 0 的元素")
    yield make.share(mix.double().sum(-1).abs() < 1, 0.682689, "rows whose sum is within 1", "和的绝对值小于 1 的行")
    yield make.share((unit[1:] < 0) == (unit[:-1] < 0), 0.5, "equal signs in two heads", "两个头里符号相同的元素")


def differ(mix, of_next):
    if any(torch.equal(a, b) for a, b in itertools.product(mix, of_next)):
        return "another seed draws the same matrix", "换了 seed，却有矩阵没变"
    return None
