"""Heads of any width, more and fewer of them than fit into D; one head; one token; keys that all heads share."""

from __future__ import annotations

AXES = {"x": "B T D", "wq": "D H·d", "wk": "D d", "wv": "D d", "wo": "H·d D", "return": "B T D"}
SIZES = {"B": (1, 3), "T": (1, 5, 70), "D": (1, 7), "H": (1, 4, 20), "d": (1, 4, 33)}
DERIVED = {"H·d": "H * d"}
LARGE = 4.0  # activations and weights grow together, so the logits reach ±200
PROFILES = {"stable": ["large"]}


def tensors(make, B, T, D, H, d):
    shapes = (D, H * d), (D, d), (D, d), (H * d, D)
    return make.normal(B, T, D), *(make.normal(*shape, scale=shape[0] ** -0.5 + 0.2) for shape in shapes)


def case(make):
    make.call("mqa", *tensors(make, *make.sizes("B", "T", "D", "H", "d")), make.size("H"), causal=make.flag())


def edge_heads_not_from_D(make):
    """heads wider and narrower than D/H: d is the width of wk

    头宽不等于 D/H，有宽有窄：d 就是 wk 的列数
    """
    for D, H, d in ((6, 3, 5), (6, 2, 1), (4, 2, 2), (3, 6, 4)):
        make.call("mqa", *tensors(make, 2, 4, D, H, d), H)
        make.call("mqa", *tensors(make, 2, 4, D, H, d), H, False)


def heads_at(make, H):
    make.call("mqa", *tensors(make, 2, 4, 3, H, 48), H)


def all_seen_at(make, H):
    make.call("mqa", *tensors(make, 1, 6, 3, H, 48), H, False)


def projecting_at(make, H):
    """Wide inputs: next to the queries and the output, keys and values of one head cost nothing."""
    make.call("mqa", *tensors(make, 1, 3, 64, H, 16), H)


# H copies of K repeat B·T·d·(H − 1) numbers; wq, cast from 16 bits, 3·d·H at most, since few numbers have 16 bits.
CONTRACTS = [
    *(
        {
            "check": "memory",
            "measure": "repeated",
            "case": record,
            "sizes": (4, 8, 16),
            "bound": bound,
            "growth_at_most": 1.0,
            "says": {
                "en": "keys or values are copied once for every head; sharing them is there to avoid that",
                "zh": "每个头都复制了一份 key 或 value，而共享正是为了避免这件事",
            },
        }
        for record, bound in ((heads_at, lambda H: 250 * H), (all_seen_at, lambda H: 200 * H))
    ),
    {
        "check": "work",
        "measure": "flops",
        "case": projecting_at,
        "sizes": (4, 8, 16),
        "growth_at_most": 1.5,
        "says": {
            "en": "keys and values are projected once for every head",
            "zh": "每个头都投影了一份 key 和 value",
        },
    },
]
