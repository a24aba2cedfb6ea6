"""Rows at different positions that start anywhere, jump and go back; two continuations of one past; memory kept."""

from __future__ import annotations

import torch

AXES = {
    **dict.fromkeys(("q", "k", "v"), "B H ... d"),
    "pos": "B ...",
    "return[0]": "B H ... d",
    **{f"cache['{name}']": "B H t d" for name in "kv"},
    **{f"return[1]['{name}']": "B H t+1 d" for name in "kv"},
}
SIZES = {"B": (1, 3), "H": (1, 3, 8), "pairs": (1, 4, 33), "steps": (1, 5, 40)}
DERIVED = {"d": "2 * pairs"}
GRADIENTS = False
SIXTEEN_BITS = "native"
LARGE = 4.0
PROFILES = {"stable": ["large"]}
# Angles in float32 are right to 5·10⁻⁴ near the position 4000, and scores are sums of many.
TOLERANCE = {"float32": 1e-3, "float64": 1e-3}
TOLERANCE_STABLE = {"float32": 2e-2}


def step(make, cache, pos, H, d, **kwargs):
    """Decode one token for each row; return the new cache."""
    q, k, v = (make.normal(len(pos), H, 1, d, grad=False) for _ in range(3))
    handle = make.call("rope_decode_step", q, k, v, cache, pos[:, None], **kwargs)
    make.opaque(handle[1])
    return handle[1]


def case(make):
    B, H, d, steps = make.sizes("B", "H", "d", "steps")
    kind = make.pick(["each from its start", "from zero", "far", "jumps", "two continuations"])
    base = make.pick([{}, {"base": 100.0}, {"base": 500000.0}])
    pos = make.integers(0, 3000 if kind == "far" else 30, B) * (kind != "from zero")
    cache, kept = {}, []
    for _ in range(steps):
        cache = step(make, cache, pos, H, d, **base)
        kept.append(cache)
        pos = make.integers(0, 30, B) if kind == "jumps" else pos + 1
    if kind == "two continuations":
        for past in (kept[0], cache, kept[0]):
            step(make, past, pos, H, d, **base)


def edge_positions_of_each_row(make):
    """rows at 0, 7 and 1000; positions that go backwards, repeat, and one far ahead of the query

    三行分别在 0、7、1000；位置有倒退的、重复的，也有远在 query 前面的
    """
    for places in ([[0, 7, 1000]] * 3, [[9, 1, 40], [8, 3, 40], [7, 2, 39]], [[500, 3, 0], [0, 2, 0], [1, 90, 0]]):
        cache = {}
        for pos in places:
            cache = step(make, cache, torch.tensor(pos), 2, 6)


def edge_later_keys_win(make):
    """keys at later positions than the query have the largest scores: they are visible

    位置比 query 靠后的 key 分数最高：它们也看得到
    """
    q, cache = torch.ones(1, 1, 1, 2), {}
    for place in (20, 0):
        turned = make.keep(q * 6.0)
        handle = make.call(
            "rope_decode_step", turned, turned, make.normal(1, 1, 1, 2, grad=False), cache, torch.tensor([[place]]), 1e8
        )
        make.opaque(handle[1])
        cache = handle[1]


def edge_sixteen_bits_far_out(make):
    """float16 and bfloat16 at positions that these dtypes do not tell apart

    float16、bfloat16，位置大到这些 dtype 区分不开
    """
    for dtype in (torch.float16, torch.bfloat16):
        cache = {}
        for place in (2049, 2050, 2053):
            q, k, v = (
                make.keep(torch.randn(2, 2, 1, 6, generator=make.random).to(dtype), dtype="fixed") for _ in range(3)
            )
            handle = make.call("rope_decode_step", q, k, v, cache, torch.tensor([[place], [place - 1792]]))
            make.opaque(handle[1])
            cache = handle[1]


def kept_at(make, t):
    cache, pos = {}, torch.tensor([3, 70])
    for _ in range(t):
        cache = step(make, cache, pos, 4, 8)
        pos = pos + 1


# 2·B·H·t·d numbers of 4 bytes and the result; positions may be kept besides, for every head at the very worst.
CONTRACTS = [
    {
        "check": "memory",
        "measure": "returned",
        "from_nothing": True,
        "case": kept_at,
        "sizes": (4, 12, 20),
        "bound": lambda t: 4 * (2 * 2 * 4 * t * 8 + 2 * 4 * 8) + 2 * 8 * t,
        "growth_at_most": 1.05,
        "says": {
            "en": "the cache takes more memory than one key and one value for each token",
            "zh": "cache 占的内存超过每个 token 一个 key、一个 value",
        },
    }
]
