"""Blocks of every size in both orders, causal and not, with gains, shifts and biases that are nothing special."""

from __future__ import annotations

import torch

_VECTORS = ("ln1_g", "ln1_b", "ln2_g", "ln2_b", "b2")
_SQUARES = ("wq", "wk", "wv", "wo")
AXES = {
    **{f"params['{name}']": "D" for name in _VECTORS},
    **{f"params['{name}']": "D D" for name in _SQUARES},
    "params['w1']": "D F",
    "params['b1']": "F",
    "params['w2']": "F D",
    "x": "B T D",
    "return": "B T D",
}
SIZES = {"B": (1, 3), "T": (1, 5, 60), "H": (1, 3), "d": (1, 4, 20), "F": (1, 9, 80)}
DERIVED = {"D": "H * d"}


def parameters(make, D, F):
    shapes = {**dict.fromkeys(_VECTORS, (D,)), **dict.fromkeys(_SQUARES, (D, D))}
    shapes |= {"w1": (D, F), "b1": (F,), "w2": (F, D)}
    scales = {name: 0.5 if len(shape) == 1 else shape[0] ** -0.5 + 0.1 for name, shape in shapes.items()}
    means = {"ln1_g": 1.0, "ln2_g": 1.2}
    return {name: make.normal(*shape, scale=scales[name], mean=means.get(name, 0.0)) for name, shape in shapes.items()}


def case(make):
    D, F, H = make.sizes("D", "F", "H")
    norm, causal = make.pick([("pre", True), ("post", False), ("pre", False), ("post", True)])
    x = make.argument("x", scale=make.pick([1.0, 3.0]), mean=make.pick([0.0, 1.0]))
    make.call("block", x, parameters(make, D, F), H, norm, causal)


def edge_silent_branches(make):
    """wo = w2 = b2 = 0: pre-norm is the identity, post-norm only normalises

    wo = w2 = b2 = 0：pre-norm 是恒等映射，post-norm 只做归一化
    """
    params = parameters(make, 6, 5)
    silent = {name: make.keep(torch.zeros_like(params[name]), grad=True) for name in ("wo", "w2", "b2")}
    for norm in ("pre", "post"):
        make.call("block", make.normal(2, 3, 6), params | silent, 2, norm, True)


def edge_one_branch_alone(make):
    """attention alone, then the feed-forward network alone

    只有注意力，然后只有前馈网络
    """
    params, x = parameters(make, 6, 5), make.normal(2, 4, 6)
    for names in (("w2", "b2"), ("wo",)):
        silent = {name: make.keep(torch.zeros_like(params[name]), grad=True) for name in names}
        for norm in ("pre", "post"):
            make.call("block", x, params | silent, 3, norm, False)


def edge_tiny_and_constant_tokens(make):
    """tokens whose spread is near √ε, and constant ones: ε = 10⁻⁵, inside the root

    离散程度接近 √ε 的 token 和常数 token：ε = 10⁻⁵，在根号里面
    """
    params = parameters(make, 4, 5)
    for x in (make.normal(2, 3, 4, scale=3e-3), make.keep(torch.full((1, 2, 4), 0.5), grad=True)):
        for norm in ("pre", "post"):
            make.call("block", x, params, 2, norm, False)


def heads_at(make, n_heads):
    """The same block of width 32, cut into more and more heads."""
    make.call("block", make.normal(2, 6, 32), parameters(make, 32, 16), n_heads, "pre", True)


CONTRACTS = [
    {
        "check": "work",
        "measure": "calls",
        "case": heads_at,
        "sizes": (2, 8, 32),
        "bound": lambda H: H / 3,
        "growth_at_most": 1.5,
        "says": {
            "en": "the number of tensor operations grows with the number of heads: a Python loop over the heads",
            "zh": "张量操作的次数随头数增长：用 Python 循环逐头计算",
        },
    }
]
