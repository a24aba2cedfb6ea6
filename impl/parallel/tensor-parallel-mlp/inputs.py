"""One to five ranks with shards of unequal widths, and an all_reduce whose calls are counted."""

from __future__ import annotations

import torch

AXES = {"x": "... D", "b2": "D", "return": "... D"}
AXES |= {f"w1_shards[{p}]": f"D F_{p}" for p in range(4)}
AXES |= {f"b1_shards[{p}]": f"F_{p}" for p in range(4)}
AXES |= {f"w2_shards[{p}]": f"F_{p} D" for p in range(4)}
SIZES = {"D": (1, 5, 40), "P": (1, 4), "F": (1, 4, 40)}
GRADIENTS = False  # all_reduce stays in the judge: no graph goes through it
SIXTEEN_BITS = "native"


def shards(make, D, widths):
    """Weights of each rank, with biases far enough from 0 to be missed."""
    w1 = [make.normal(D, width, scale=D**-0.5) for width in widths]
    b1 = [make.normal(width) for width in widths]
    return w1, b1, [make.normal(width, D, scale=sum(widths) ** -0.5) for width in widths]


def call(make, x, weights, b2, act):
    P = len(weights[0])

    def all_reduce(partials):
        if not isinstance(partials, (list, tuple)) or not all(isinstance(part, torch.Tensor) for part in partials):
            raise TypeError("all_reduce takes a list of tensors, one for each rank")
        if len(partials) != P:
            raise ValueError(f"all_reduce takes one tensor for each of the {P} ranks, not {len(partials)}")
        return torch.stack(list(partials)).sum(0)

    reduced = make.callable(all_reduce)
    make.call("tp_mlp", x, *weights, b2, act, reduced)
    make.count(reduced, once)


def once(calls, outcomes):
    if len(calls) == 1:
        return None
    return (
        f"all_reduce was called {len(calls)} times, expected once",
        f"all_reduce 调用了 {len(calls)} 次，应当只有一次",
    )


def activation(make):
    return make.new(f"torch.nn.{make.pick(['GELU', 'ReLU', 'Tanh', 'SiLU', 'Sigmoid'])}")


def case(make):
    D, P, width = make.sizes("D", "P", "F")
    widths = [width + p * make.pick([0, 1, 2]) for p in range(P)]
    call(make, make.argument("x"), shards(make, D, widths), make.argument("b2"), activation(make))


def edge_act_beside_linear(make):
    """activations that are not 0 at 0, and the identity: a wrong position is visible

    在 0 处不为 0 的激活，以及恒等激活：位置放错就会出错
    """
    for kind in ("Sigmoid", "Softplus", "Identity"):
        for widths in ((3, 1), (2,), (1, 1, 4, 2)):
            x, b2 = make.normal(2, 3), make.normal(3, mean=2.0)
            call(make, x, shards(make, 3, widths), b2, make.new(f"torch.nn.{kind}"))


def ranks_at(make, P):
    """More and more ranks of eight hidden units each."""
    call(make, make.normal(2, 8), shards(make, 8, [8] * P), make.normal(8), make.new("torch.nn.GELU"))


CONTRACTS = [
    {
        "check": "memory",
        "measure": "largest",
        "case": ranks_at,
        "sizes": (2, 4, 8),
        "growth_at_most": 1.0,
        "bound": lambda P: 4 * P,  # joined shards are 64·P, hidden units of all ranks 16·P
        "says": {
            "en": "the largest tensor grows with the number of ranks: their shards, or what they compute, are joined",
            "zh": "最大的张量随 rank 数增长：各 rank 的分片或中间结果被拼到了一起",
        },
    },
]
