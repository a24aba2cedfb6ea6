"""Groups of 1 to 6 query heads, G = 1 and G = H, a past of any length, and shapes that do not fit."""

from __future__ import annotations

AXES = {"q": "B H T d", "k": "B G S d", "v": "B G S d", "return": "B H T d"}
SIZES = {"B": (1, 3), "G": (1, 3, 5), "R": (1, 6), "T": (1, 5, 40), "past": (0, 4, 87), "d": (1, 5, 33)}
DERIVED = {"H": "G * R", "S": "T + past"}
LARGE = 10.0  # q and k both grow, so the logits reach ±200 and more
PROFILES = {"stable": ["large"]}


def tensors(make, B, G, R, T, S, d):
    return make.normal(B, G * R, T, d), make.normal(B, G, S, d), make.normal(B, G, S, d)


def case(make):
    q, k = make.queries_and_keys()
    make.call("gqa", q, k, make.argument("v"), causal=make.flag())


def edge_fewer_keys_than_queries(make):
    """S < T is fine without a mask, and a ValueError with causal

    S < T：没有掩码时没有问题，因果时抛 ValueError
    """
    for B, T, S in ((1, 5, 2), (2, 3, 1)):
        q, k, v = tensors(make, B, 2, 2, T, S, 4)
        make.call("gqa", q, k, v)
        make.raises(ValueError, "gqa", q, k, v, True)
        make.raises(ValueError, "gqa", q, k, v, causal=True)


def edge_uneven_groups(make):
    """H not a multiple of G raises ValueError

    H 不是 G 的倍数时，抛 ValueError
    """
    for H, G in ((5, 2), (2, 4), (4, 3)):
        q, k, v = make.normal(1, H, 2, 4), make.normal(1, G, 3, 4), make.normal(1, G, 3, 4)
        make.raises(ValueError, "gqa", q, k, v)
        make.raises(ValueError, "gqa", q, k, v, True)


def decoding_at(make, R):
    """One query token, two sequences, two groups, and more and more query heads in each."""
    make.call("gqa", *tensors(make, 2, 2, R, 1, 24, 32))


def causal_at(make, R):
    make.call("gqa", *tensors(make, 2, 2, R, 2, 24, 32), True)


def one_group_at(make, R):
    make.call("gqa", *tensors(make, 1, 1, R, 2, 24, 32))


# For each head and query, scores are 24 and the query itself 32 numbers; keys repeated once per head would be 768.
CONTRACTS = [
    {
        "check": "memory",
        "measure": "handed",
        "case": record,
        "sizes": (2, 4, 8),
        "bound": bound,
        "growth_at_most": 1.5,
        "says": {
            "en": "keys or values are copied once for every query head; that is what grouping is there to avoid",
            "zh": "每个 query 头都复制了一份 key 或 value，而分组正是为了避免这件事",
        },
    }
    for record, bound in (
        (decoding_at, lambda R: 350 * R),
        (causal_at, lambda R: 700 * R),
        (one_group_at, lambda R: 175 * R),
    )
]
