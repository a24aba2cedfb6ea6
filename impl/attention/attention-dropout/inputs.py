"""Deterministic calls are compared (evaluation, p = 0, p = 1); random ones are checked for the properties of dropout."""

from __future__ import annotations

import torch

AXES = {"weights": "... T S", "return": "... T S"}
SIZES = {"T": (1, 5), "S": (1, 7)}
ALIAS_ALLOWED = ("attention_dropout",)
HARDENED = {"edge_gradient_where_all_is_dropped"}
WITHOUT_MOTIFS = {"one", "equal"}  # every entry is drawn on its own
_RANKS = ((2, 6, 8), (8, 12), (2, 2, 5, 6), (2, 1, 2, 5, 6))
_DROPPED = "entries dropped", "丢掉的元素"
_DRAWN = [(0.5, True), (0.1, False), (0.25, True), (1.0, True), (0.9, True), (0.0, True), (1.0, False), (0.1, True)]


def maps(make, *shape, grad=True):
    """Attention weights: positive, away from zero, in rows that sum to about 1."""
    return make.uniform(*shape, low=0.2 / shape[-1], high=1.8 / shape[-1], grad=grad)


def case(make):
    p, training = make.pick(_DRAWN)
    weights = maps(make, *make.shape("weights"), grad=not training or p < 1.0)
    if training and 0.0 < p < 1.0:
        drop(make, weights, p, make.generator() if make.flag() and make.profile != "meta" else None)
    else:
        make.call("attention_dropout", weights, p, training)


def drop(make, weights, p, generator=None):
    """A call in training on new weights: each entry, and each gradient, is 0 or grows by 1/(1 − p)."""
    handle, due = make.call("attention_dropout", weights, p, True, generator), weights.detach().double() / (1.0 - p)
    make.judge(lambda got: make.one_of(got, 0.0, due), handle)
    if weights.requires_grad:
        make.judge(lambda got, grad: make.one_of(grad, got.bool().double() / (1.0 - p), gradient=True), handle, weights)
    return handle


def edge_left_alone(make):
    """outside training, and where p = 0, nothing happens

    非训练时，或 p = 0 时，什么都不做
    """
    for p, training in ((0.0, False), (0.3, False), (1.0, False), (0.0, True)):
        make.call("attention_dropout", maps(make, 2, 3, 5), p, training)


def edge_all_dropped(make):
    """p = 1 gives zeros, not NaN

    p = 1：输出全 0，不能是 NaN
    """
    make.call("attention_dropout", maps(make, 2, 3, 5, grad=False), 1.0, True)


def edge_gradient_where_all_is_dropped(make):
    """where p = 1 the gradient is zero, not NaN

    p = 1 时梯度也是 0，不能是 NaN
    """
    make.call("attention_dropout", maps(make, 2, 3, 5), 1.0, True)


def edge_equal_states(make):
    """equal states, of a generator or of torch's global one, drop the same, whatever was drawn in between

    状态相同则丢的位置相同，不管用的是 generator 还是全局生成器，也不管中间抽过什么
    """
    for shape in _RANKS:
        make.repeats(lambda generator, shape=shape: drop(make, maps(make, *shape), 0.4, generator), torch.Tensor.bool)


def edge_state_moves_on(make):
    """each call drops other entries, and its gradient drops the same ones

    每次调用丢的位置都不同，各自的梯度也要对得上
    """
    for shape in _RANKS:
        make.moves_on(lambda generator, shape=shape: drop(make, maps(make, *shape), 0.5, generator), torch.Tensor.bool)


def edge_rounded_once_in_16_bits(make):
    """16 bits: what is kept is rounded once, not its factor as well

    16 位：保留下来的只舍入一次，系数不能先舍入一遍
    """
    for dtype in (torch.bfloat16, torch.float16):
        drop(make, make.keep(maps(make, 8, 12).to(dtype), dtype="fixed"), 0.3)


def edge_rarely_in_16_bits(make):
    """p = 0.002 in 16 bits: a draw that is as coarse rounds it up

    16 位、p = 0.002：同样粗糙的随机数会把它舍入上去
    """
    for dtype in (torch.bfloat16, torch.float16):
        rare(make, make.keep(torch.full((40, 64, 64), 1 / 64, dtype=dtype), dtype="fixed"), 0.002)


def rare(make, weights, p):
    """Judge the rate of a small p: a coarse draw, such as one in 16 bits, rounds it up or down."""
    make.judge(lambda got: make.share(got == 0, p, *_DROPPED), make.call("attention_dropout", weights, p, True))


def random(make):
    """Judge the statistics: the drop rate, and independent draws for every entry, at every rank."""
    p, generator, handles = make.pick([0.5, 0.2, 0.73]), make.generator() if make.flag() else None, []
    for lead in ((6, 4), (24,), (), (6, 2, 2)):
        shape = (*lead, 32 if lead else 768, 32)
        handles += [drop(make, maps(make, *shape, grad=False), p, generator) for _ in range(3)]

    def holds(*outcomes):
        dropped = torch.stack([(got == 0).reshape(6, 4, 32, 32) for got in outcomes])
        yield make.share(dropped, p, *_DROPPED)
        yield make.independent(dropped, p, "calls", "batch", "heads", "queries", "keys")

    make.judge(holds, *handles)
    rare(make, maps(make, 40, 64, 64, grad=False), make.pick([0.002, 0.03]))
