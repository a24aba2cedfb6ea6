"""Prompts, steps at a position of each row, rewinds, caches in turns and updates that do not fit; what a step allocates."""

from __future__ import annotations

import torch

AXES = {
    **{f"update.{name}": "B G n d" for name in "kv"},
    "update.pos": "B",
    **{f"update.return[{k}]": "B G L d" for k in range(2)},
}
SIZES = {"B": (1, 4), "G": (1, 3), "n": (1, 4, 40), "d": (1, 4, 33), "past": (0, 5, 70), "spare": (0, 3)}
DERIVED = {"max_len": "past + n + spare"}
GRADIENTS = False
SIXTEEN_BITS = "native"
VIEWS_OF_STATE = ("update",)


def cache_of(make, B, G, max_len, d, *dtype):
    device = {"device": make.pick([make.device, str(make.device)])} if make.profile == "meta" else make.placed
    return make.new("StaticKVCache", B, G, max_len, d, *dtype, **device)


def update(make, cache, B, G, n, d, pos):
    k, v = make.normal(B, G, n, d, grad=False), make.normal(B, G, n, d, grad=False)
    make.method(cache, "update", k, v, torch.as_tensor(pos).expand(B).clone())


def case(make):
    B, G, n, d, past, max_len = make.sizes("B", "G", "n", "d", "past", "max_len")
    kind = make.pick(
        ["each row at its place", "prompt and steps", "rewound", "two in turns", "too long", "in any order"]
    )
    caches = [cache_of(make, B, G, max_len, d, make.dtype) for _ in range(2 if kind == "two in turns" else 1)]
    places = make.integers(0, past + 1, B)
    if kind in ("prompt and steps", "rewound", "two in turns", "too long"):
        for cache in caches:
            update(make, cache, B, G, n, d, 0)
    if kind == "too long":
        wrong = places.clone()
        wrong[-1] = max_len - n + 1
        k = make.normal(B, G, n, d, grad=False)
        make.method_raises(ValueError, caches[0], "update", k, k, wrong)
    for step in range(make.pick([2, 1, 3])):
        for cache in caches:
            one = 1 if kind == "prompt and steps" else n
            back = kind == "rewound" and step == 1
            update(make, cache, B, G, one, d, places // 2 if back else (places + step).clamp(max=max_len - one))
    if kind == "in any order":
        update(make, caches[0], B, G, n, d, max_len - n)
        update(make, caches[0], B, G, n, d, places)


def edge_full_to_the_last_slot(make):
    """the last slot is used; one more raises ValueError, in any row, and nothing is written

    最后一个槽位也能用；再多一个就抛 ValueError，不管是哪一行，而且什么都不写
    """
    for pos in ([3, 3, 3], [0, 3, 1], [0, 1, 3]):
        cache = cache_of(make, 3, 2, 5, 2)
        update(make, cache, 3, 2, 2, 2, pos)
        k = make.normal(3, 2, 2, 2, grad=False)
        make.method_raises(ValueError, cache, "update", k, k, torch.tensor(pos) + 1)
        update(make, cache, 3, 2, 1, 2, 4)
    whole = make.normal(2, 1, 4, 3, grad=False)  # k fills the cache; another one is written over it, k stays
    for _ in range(2):
        cache = cache_of(make, 2, 1, 4, 3)
        make.method(cache, "update", whole, whole, torch.tensor([0, 0]))
        update(make, cache, 2, 1, 2, 3, [1, 2])


def edge_cast_to_the_dtype_of_the_cache(make):
    """k and v in another dtype than the cache, which keeps its dtype: float32 by default

    k、v 的 dtype 与 cache 不同：按 cache 的存，默认 float32
    """
    x = torch.linspace(-3, 3, 12, dtype=torch.float64).reshape(2, 1, 3, 2) / 3
    for dtype in ((), (torch.bfloat16,), (torch.float16,), (torch.float64,)):
        for given in (torch.float32, torch.float64, torch.bfloat16):
            cache, k = cache_of(make, 2, 1, 5, 2, *dtype), make.keep(x.to(given), dtype="fixed")
            make.method(cache, "update", k, k, torch.tensor([2, 0]))


def step_at(make, max_len):
    """One token for each of two rows, far into the cache."""
    cache = cache_of(make, 2, 2, max_len, 8)
    update(make, cache, 2, 2, 1, 8, [max_len - 2, max_len - 3])


CONTRACTS = [
    {
        "check": "memory",
        "measure": measure,
        "real": {"size": 65_536, "en": "64k context", "zh": "64k 上下文"},
        "case": step_at,
        "sizes": (32, 128, 512),
        "bound": lambda max_len: max_len / 8,
        "growth_at_most": 1.0,
        "says": {
            "en": "a step copies the cache: new memory grows with what is kept",
            "zh": "单步把 cache 复制了一遍：新分配的内存随 cache 增长",
        },
    }
    for measure in ("largest", "peak")
]
