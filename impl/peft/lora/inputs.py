"""Layers before and after training, merged and unmerged in every order; dropout that shows which inputs it dropped."""

from __future__ import annotations

import torch

AXES = {
    "x": "... in",
    "forward.return": "... out",
    "lora_A": "r in",
    "lora_B": "out r",
    "lora_A.return": "r in",
    "lora_B.return": "out r",
    "base.weight.return": "out in",
}
SIZES = {"in": (1, 6, 70), "out": (1, 5, 67), "r": (1, 3, 20)}
SIXTEEN_BITS = "native"
_KINDS = ("trained", "there and back", "two layers", "merged", "one step", "trained")


def linear(make, i, o, bias=True):
    base = make.new("torch.nn.Linear", i, o, bias=bias)
    make.set(base, {"weight": weights(make, i, o), **({"bias": make.normal(o, grad=False)} if bias else {})})
    return base


def weights(make, i, o):
    """Constants, none near 0, where merging would round it away."""
    return make.keep((make.integers(0, 2, o, i) * 2 - 1) * make.uniform(o, i, low=0.5, high=2.0, grad=False))


def adapted(make, i, o, r, alpha, bias=True, *dropout, grad=False):
    """A layer whose A and B have been trained."""
    lora = make.new("LoRALinear", linear(make, i, o, bias), r, alpha, *dropout)
    set_factors(make, lora, i, o, r, grad)
    return lora


def set_factors(make, lora, i, o, r, grad=False):
    a, b = make.uniform(r, i, low=-1.0, grad=grad), make.uniform(o, r, low=-1.0, grad=grad)
    make.set(lora, {"lora_A": a, "lora_B": b})


def silently(make, owner, *names):
    """Call methods without arguments; their results are not compared."""
    for name in names:
        make.compare(make.method(owner, name), False)


def factors_alone(trainable):
    if sorted(name.removesuffix(".weight") for name in trainable) == ["lora_A", "lora_B"]:
        return None
    return f"trains {trainable}, not lora_A and lora_B alone", f"可训练的是 {trainable}，应当只有 lora_A、lora_B"


def case(make):
    kind, (i, o, r) = make.pick(_KINDS), make.sizes("in", "out", "r")
    alpha, bias = make.pick([1.0, 2.0, 0.5, 5.0]), make.flag()
    if make.dtype.itemsize == 2 and kind != "trained":
        kind = "merged"  # in 16 bits the weight does not become what it was
    if kind == "there and back":
        there_and_back(make, linear(make, i, o, bias), i, o, r, alpha)
    elif kind == "one step":
        one_step(make, make.new("LoRALinear", linear(make, i, o, bias), r, alpha), i, r, bias)
    elif kind == "two layers":
        two_layers(make, adapted(make, i, o, r, alpha), adapted(make, o, i, r, 2 * alpha, False))
    else:
        dropout = make.pick([(), (0.0,), (0.5,)])
        lora = adapted(make, i, o, r, alpha, bias, *dropout, grad=kind == "trained")
        make.train(lora, False)
        if kind == "merged":
            silently(make, lora, "merge")
            make.read(lora, "base.weight")
        make.judge(factors_alone, make.read(lora, "trainable"))
        make.method(lora, "forward", make.argument("x"))


def there_and_back(make, base, i, o, r, alpha):
    """Merge, train further, unmerge: the base weight is the loaded one again, and the new A and B are used."""
    weight = make.read(base, "weight")
    make.compare(weight, False)
    lora, x = make.new("LoRALinear", base, r, alpha), make.argument("x", grad=False)
    make.set(base, {"weight": weights(make, i, o)})
    set_factors(make, lora, i, o, r)
    silently(make, lora, *["unmerge"] * make.pick([1, 0]))
    for name in ["merge", "unmerge"] * make.pick([2, 1]):
        silently(make, lora, *[name] * make.pick([1, 2]))
        make.method(lora, "forward", x)
        make.method(weight, "clone")
        set_factors(make, lora, i, o, r)
    make.method(lora, "forward", x)


def one_step(make, lora, i, r, bias):
    """One step of gradient descent over all that trains. Σy² is a scalar: a vector loads all of torch's algebra."""
    make.set(lora, {"lora_A": make.normal(r, i, grad=False)})
    parameters = make.read(lora, "parameters")
    make.compare(parameters, False)
    optimizer = make.new("torch.optim.SGD", parameters, lr=0.5, weight_decay=0.1)
    y = make.method(lora, "forward", make.normal(3, i, grad=False))
    make.method(make.method(make.method(y, "square"), "sum"), "backward")
    silently(make, optimizer, "step")
    for name in ("lora_A", "lora_B", "base.weight", "base.weight.grad", *["base.bias.grad"] * bias):
        make.read(lora, name)


def two_layers(make, first, second):
    """Merge and call two layers in turns: they share nothing."""
    x = make.argument("x", grad=False)
    silently(make, first, "merge")
    make.method(second, "forward", make.method(first, "forward", x))
    silently(make, second, "merge")
    silently(make, first, "unmerge")
    make.method(second, "forward", make.method(first, "forward", x))
    make.read(first, "base.weight")
    make.read(second, "base.weight")


def edge_at_the_start(make):
    """a new layer gives what its base gives, dropout or not: B = 0, A is random, the global generator is not reseeded

    刚建好的层输出与 base 相同，有没有 dropout 都一样：B = 0，A 随机；不许重设全局随机种子
    """
    lora = make.new("LoRALinear", linear(make, 7, 5), 4, 8.0, 0.9)
    make.train(lora, True)
    make.method(lora, "forward", make.normal(4, 7))
    make.read(lora, "lora_B")
    make.judge(make.distinct, make.read(lora, "lora_A"))


def random(make):
    """One layer whose output spells out which of three inputs were dropped, in two copies."""
    p = make.pick([0.5, 0.2, 0.7])
    base = make.new("torch.nn.Linear", 3, 2)
    make.set(base, {"weight": make.keep(torch.zeros(2, 3)), "bias": make.keep(torch.zeros(2))})
    lora = make.new("LoRALinear", base, 2, 2.0, p)
    codes = torch.tensor([[1.0, 2.0, 4.0]]).repeat(2, 1)
    make.set(lora, {"lora_A": make.keep(codes), "lora_B": make.keep(torch.eye(2))})
    make.train(lora, True)

    def holds(y):
        yield make.one_of(y, *(code / (1 - p) for code in range(8)))
        kept = (y * (1 - p)).round().int()[..., None] >> torch.arange(3) & 1  # (N, 2 copies, 3 inputs)
        yield make.share(kept[:, 0] != kept[:, 1], 0.0, "inputs dropped for one output alone", "只对一个输出丢掉的输入")
        yield make.frequencies(kept[:, 0], [(p, 1 - p)] * 3, "input 1 kept", "input 2 kept", "input 3 kept")

    make.judge(holds, make.method(lora, "forward", make.keep(torch.ones(3000, 3))))


# Width: rank, in training, leading dimensions. No shortcut may multiply BA out in one of them, nor at a high rank, where
# r·(in + out) is more than in·out.
_WIDTHS = {8: (2, False, (1,)), 32: (2, True, (3,)), 96: (2, False, (3,)), 192: (2, True, ()), 384: (2, False, ())}
_HIGH_RANKS = {40: (25, False, (2,)), 64: (40, False, (2,)), 104: (65, False, (2,))}


def wide(make, n):
    rank, training, lead = (_WIDTHS | _HIGH_RANKS)[n]
    lora = adapted(make, n, n, rank, 4.0, False)
    make.train(lora, training)
    make.method(lora, "forward", make.normal(*lead, n, grad=False))


_SAYS = {
    "en": "forward makes a tensor that grows with in × out: BA is multiplied out",
    "zh": "forward 里有张量随 in × out 增长：把 BA 乘出来了",
}
_LARGEST = {"check": "memory", "measure": "largest", "growth_at_most": 1.0, "says": _SAYS}
CONTRACTS = [
    _LARGEST | {"case": wide, "sizes": tuple(_WIDTHS), "bound": lambda n: 8 * n},  # three rows of x, or a factor
    # a factor is 0.625·n², BA is n²
    _LARGEST | {"case": wide, "sizes": tuple(_HIGH_RANKS), "bound": lambda n: 0.8 * n * n},
]
