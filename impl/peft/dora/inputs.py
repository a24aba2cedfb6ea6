"""Layers before and after training, rows of every length, zero among them; magnitudes of either sign."""

from __future__ import annotations

import torch

AXES = {
    "x": "... in",
    "forward.return": "... out",
    "merged_weight.return": "out in",
    "lora_A": "r in",
    "lora_B": "out r",
    "m": "out",
    "lora_A.return": "r in",
    "lora_B.return": "out r",
    "m.return": "out",
    "base.weight.return": "out in",
}
SIZES = {"in": (1, 6, 70), "out": (1, 5, 67), "r": (1, 3, 20)}
SIXTEEN_BITS = "native"
HARDENED = {"edge_rows_of_zeros"}
PROFILES = {check: ["ordinary"] for check in ("matches-reference", "gradients", "edge-cases")}  # dtypes: second rung
_KINDS = ("trained", "merged", "one step", "trained")


def linear(make, i, o, bias=True, weight=None):
    base = make.new("torch.nn.Linear", i, o, bias=bias)
    weight = make.normal(o, i, grad=False) if weight is None else make.keep(weight)
    make.set(base, {"weight": weight, **({"bias": make.normal(o, grad=False)} if bias else {})})
    return base


def set_trained(make, dora, i, o, r, grad=True):
    """A and B that turn rows visibly, magnitudes of their own, some of them negative."""
    a, b = make.uniform(r, i, low=-1.0, grad=grad), make.uniform(o, r, low=-1.0, grad=grad)
    make.set(dora, {"lora_A": a, "lora_B": b, "m": make.normal(o, mean=1.0, grad=grad)})


def trains(names):
    if sorted(name.removesuffix(".weight") for name in names) == ["lora_A", "lora_B", "m"]:
        return None
    return f"trains {names}, not lora_A, lora_B and m alone", f"可训练的是 {names}，应当只有 lora_A、lora_B、m"


def case(make):
    kind, (i, o, r) = make.pick(_KINDS), make.sizes("in", "out", "r")
    alpha, bias, dropout = make.pick([1.0, 2.0, 0.5, 5.0]), make.flag(), make.pick([(), (0.0,), (0.5,)])
    dora = make.new("DoRALinear", linear(make, i, o, bias), r, alpha, *dropout)
    if kind == "one step" and make.dtype.itemsize > 2:
        one_step(make, dora, i, r, bias)
        return
    set_trained(make, dora, i, o, r, grad=kind == "trained")
    make.train(dora, False)
    make.judge(trains, make.read(dora, "trainable"))
    make.method(dora, "forward", make.argument("x"))
    if kind != "trained":
        make.method(dora, "merged_weight")


def one_step(make, dora, i, r, bias):
    """One step of gradient descent over all that trains, then the layer again: norms follow A and B."""
    make.train(dora, False)
    make.set(dora, {"lora_A": make.normal(r, i, grad=False)})
    parameters = make.read(dora, "parameters")
    make.compare(parameters, False)
    optimizer = make.new("torch.optim.SGD", parameters, lr=0.5, weight_decay=0.1)
    x = make.normal(3, i, grad=False)
    y = make.method(dora, "forward", x)
    make.method(make.method(make.method(y, "square"), "mean"), "backward")
    make.compare(make.method(optimizer, "step"), False)
    for name in ("lora_A", "lora_B", "m", "base.weight", "base.weight.grad", *["base.bias.grad"] * bias):
        make.read(dora, name)
    make.method(dora, "forward", x)


def edge_at_the_start(make):
    """a new layer gives what its base gives: B = 0, m is the length of each row, A is random

    刚建好的层输出与 base 相同：B = 0，m 是各行的长度，A 随机
    """
    for bias, dropout in ((True, 0.9), (False, 0.0)):
        dora = make.new("DoRALinear", linear(make, 7, 5, bias), 4, 8.0, dropout)
        make.train(dora, False)
        make.method(dora, "forward", make.normal(4, 7))
        make.read(dora, "lora_B")
        make.read(dora, "m")
        make.judge(make.distinct, make.read(dora, "lora_A"))


def edge_rows_of_zeros(make):
    """a row of zeros is divided by 1, before training and with trained m and A: no NaN, no huge gradient

    全 0 的行除以 1，训练前如此，m、A 训练过也如此：没有 NaN，梯度也不会爆掉
    """
    weight = torch.tensor([[1.0, -2.0, 2.0], [0.0, 0.0, 0.0], [1e-4, 0.0, 2e-4]])
    before_and_after(make, weight, torch.tensor([[1.0, 0.5], [0.0, 0.0], [0.0, 0.0]]))


def edge_short_rows(make):
    """rows of length 10⁻⁴ beside long ones: no eps is added to a norm

    长度 10⁻⁴ 的行和很长的行放在一起：范数上不加任何数
    """
    weight = torch.tensor([[1.0, -2.0, 2.0], [2e-4, 1e-4, 0.0], [1e-4, 0.0, 2e-4]])
    before_and_after(make, weight, torch.tensor([[1.0, 0.5], [0.0, 0.0], [0.0, 0.0]]))


def before_and_after(make, weight, b):
    """A new layer over this weight, and one with m and A of its own, this B, with gradients and without."""
    for trained, grad in ((False, False), (True, True), (True, False)):
        dora = make.new("DoRALinear", linear(make, 3, 3, True, weight), 2, 2.0)
        if trained:
            m = make.keep(torch.tensor([2.0, 3.0, -1.0]), grad=grad)
            make.set(dora, {"lora_A": make.normal(2, 3, grad=grad), "lora_B": make.keep(b, grad=grad), "m": m})
        make.method(dora, "forward", make.normal(2, 3))
        if not grad:
            make.method(dora, "merged_weight")


def edge_rows_that_cancel(make):
    """BA cancels nearly all of the weight: the rest decides the norm

    BA 几乎把权重抵消：范数由剩下的部分决定
    """
    weight = torch.tensor([[3.0, 4.0], [1.0, 1.0]])
    dora = make.new("DoRALinear", linear(make, 2, 2, False, weight), 1, 2.0)
    factors = {
        "lora_A": torch.tensor([[1.5, 2.0]]),
        "lora_B": torch.tensor([[-0.75], [2.0]]),
        "m": torch.tensor([1.0, 1.0]),
    }
    make.set(dora, {name: make.keep(value, grad=True) for name, value in factors.items()})
    make.method(dora, "forward", make.normal(3, 2))


def edge_two_layers(make):
    """two layers called in turns share nothing

    两个层轮流调用，互不相干
    """
    layers = [make.new("DoRALinear", linear(make, 4, 4, bias), 2, 2.0) for bias in (True, False)]
    for dora in layers:
        set_trained(make, dora, 4, 4, 2, False)
    x = make.normal(2, 4, grad=False)
    for dora in (*layers, *layers):
        x = make.method(dora, "forward", x)
        make.method(dora, "merged_weight")
