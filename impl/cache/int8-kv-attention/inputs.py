"""Caches filled in one go and bit by bit, judged by what they decode to; made-up caches with scales far apart to attend to."""

from __future__ import annotations

import torch

_PARTS = {"k": "B G t d", "v": "B G t d", "k_scale": "B G t", "v_scale": "B G t"}
AXES = {
    **dict.fromkeys("kv", "B G n d"),
    **{f"cache['{name}']": axes for name, axes in _PARTS.items()},
    **{f"append_kv.return['{name}']": axes.replace("t", "t+n") for name, axes in _PARTS.items()},
    "q": "B H d",
    "lengths": "B",
    "attend.return": "B H d",
}
SIZES = {"B": (1, 3), "G": (1, 3), "R": (1, 4), "t": (1, 6, 300), "n": (1, 3, 40), "d": (1, 6, 65)}
DERIVED = {"H": "G * R"}
GRADIENTS = False
# In float32 alone: what is decoded as codes.float() times a float32 scale is not float64.
PROFILES = {check: ["ordinary"] for check in ("matches-reference", "edge-cases")}
HARDENED = {"edge_nan_behind_a_length", "edge_queries_in_sixteen_bits"}
WITHOUT_MOTIFS = {"same"}  # what is judged knows k from v


def made_up(make, B, G, t, d, size=1.0):
    """Codes that use all of int8, scales between 1/4 and 4 times `size`."""
    cache = {name: make.integers(-127, 128, B, G, t, d).to(torch.int8) for name in "kv"}
    for name in "kv":
        scale = size * 4.0 ** (2 * torch.rand(B, G, t, generator=make.random) - 1) / 64
        cache[f"{name}_scale"] = make.keep(scale, dtype="fixed")
    return cache


def append(make, cache, k, v):
    """One call, judged by what its cache decodes to: codes at a tie may differ."""
    handle = make.call("append_kv", cache, k, v)
    given = [cache] if isinstance(cache, dict) else []
    make.judge(lambda got, *old: cache_is(got, (given or old)[0], k, v), handle, *([] if given else [cache]))
    return handle


def cache_is(got, old, k, v):
    if not isinstance(got, dict) or set(got) != set(_PARTS):
        yield f"the cache must have exactly the keys {', '.join(_PARTS)}", f"cache 应恰好有这些键：{'、'.join(_PARTS)}"
    for name, x in (("k", k), ("v", v)):
        codes, scale, x = got[name], got[f"{name}_scale"], x.detach().double()
        before = old[name].shape[2] if old else 0
        shape = [*x.shape[:2], before + x.shape[2], x.shape[3]]
        for part, value, due, dtype in (
            (name, codes, shape, torch.int8),
            (f"{name}_scale", scale, shape[:3], torch.float32),
        ):
            told = f"{part}: {list(value.shape)} {value.dtype}" if isinstance(value, torch.Tensor) else part
            if told != f"{part}: {due} {dtype}":
                yield f"{told}, must be {due} {dtype}", f"{told}，应为 {due} {dtype}"
        if codes.device.type == "meta":
            return
        if old and not (
            torch.equal(codes[:, :, :before], old[name]) and torch.equal(scale[:, :, :before], old[f"{name}_scale"])
        ):
            yield f"{name}: old tokens have changed", f"{name}：旧 token 变了"
        codes, scale = codes[:, :, before:].double(), scale[:, :, before:].double()
        top = x.abs().amax(-1)
        if not bool(scale.isfinite().all()) or bool(((127 * scale - top).abs() > 1e-5 * top)[top > 0].any()):
            yield (
                f"{name}_scale must be max|{name}|/127 of each token and head",
                f"{name}_scale 应为每个 token、每个头的 max|{name}|/127",
            )
        worst = float(((x - codes * scale[..., None]).abs() / top.masked_fill(top == 0, 127.0)[..., None] * 127).max())
        if not worst <= 0.501:
            yield (
                f"{name}: decoded numbers are wrong by {worst:.2f} steps; at most half a step is allowed",
                f"{name}：解码后差 {worst:.2f} 格，超过半格",
            )


def case(make):
    B, G, t, n, d = make.sizes("B", "G", "t", "n", "d")
    kind = make.pick(["attend", "append to nothing", "append to a cache", "one by one"])
    if kind == "attend":
        lengths = make.pick([make.integers(0, t + 1, B), torch.full((B,), t)])
        make.call("attend", make.argument("q", grad=False), made_up(make, B, G, t, d), lengths)
        return
    level = torch.exp(2 * torch.randn(B, G, n, 1, generator=make.random))
    k, v = (make.keep(make.normal(B, G, n, d, grad=False).float() * level) for _ in "kv")
    if kind == "one by one":
        cache = append(make, {}, k[:, :, :1], v[:, :, :1])
        for j in range(1, n):
            cache = append(make, cache, k[:, :, j : j + 1], v[:, :, j : j + 1])
    else:
        append(make, {} if kind == "append to nothing" else made_up(make, B, G, t, d), k, v)


def edge_tokens_far_apart(make):
    """tokens of 3·10⁻⁶, 10⁻³ and 10³ side by side, one outlier, a token of zeros

    3·10⁻⁶、10⁻³ 和 10³ 的 token 挨着，一个离群值，一个全零的 token
    """
    x = torch.randn(1, 2, 6, 8, generator=make.random)
    x[:, :, 1] *= 1e3
    x[:, :, 2] *= 1e-3
    x[:, 1, 4] *= 3e-6
    x[:, :, 3, 5] = 50.0
    x[:, 0, 4] = 0.0
    for k, v in ((x, x.flip(2)), (torch.zeros(1, 2, 1, 3), torch.ones(1, 2, 1, 3))):
        cache = append(make, {}, make.keep(k), make.keep(v))
        append(make, cache, make.keep(v), make.keep(k))


def edge_lengths(make):
    """lengths 0, 1 and all; slots beyond them are arbitrary and huge

    长度为 0、1 和全部；长度之后的内容是任意的，而且极大
    """
    cache, lengths = made_up(make, 3, 2, 5, 4), torch.tensor([0, 1, 5])
    behind = torch.arange(5) >= lengths[:, None, None]
    for name in "kv":
        cache[f"{name}_scale"] = make.keep(cache[f"{name}_scale"].masked_fill(behind, 1e4), dtype="fixed")
    make.call("attend", make.normal(3, 4, 4, grad=False), cache, lengths)
    make.call("attend", make.normal(3, 2, 4, grad=False), cache, torch.zeros(3, dtype=torch.int64))


def edge_lengths_in_different_blocks(make):
    """700 tokens, and lengths that end in the first hundred, in the third, in the last

    700 个 token，长度分别落在第一个、第三个、最后一个一百里
    """
    cache, lengths = made_up(make, 3, 1, 700, 4), torch.tensor([90, 300, 690])
    behind = torch.arange(700) >= lengths[:, None, None]
    for name in "kv":
        cache[f"{name}_scale"] = make.keep(cache[f"{name}_scale"].masked_fill(behind, 1e4), dtype="fixed")
    make.call("attend", make.normal(3, 2, 4, grad=False), cache, lengths)


def edge_large_scores(make):
    """scores of ±200, and of −200 alone: their exponentials overflow, or are all 0

    分数为 ±200，或全在 −200 左右：直接取 exp 会溢出，或全是 0
    """
    for size in (8.0, 60.0):
        make.call("attend", make.normal(2, 6, 8, grad=False), made_up(make, 2, 3, 9, 8, size), torch.tensor([9, 4]))
    low = made_up(make, 2, 3, 9, 8, 60.0)
    low["k"] = -1 - low["k"].abs() // 2
    make.call("attend", make.uniform(2, 6, 8, low=1.0, high=2.0, grad=False), low, torch.tensor([9, 4]))


def edge_nan_behind_a_length(make):
    """slots beyond a length are NaN: they were never written

    长度之后是 NaN：那里从没写过
    """
    cache, lengths = made_up(make, 3, 2, 5, 4), torch.tensor([2, 5, 0])
    for name in "kv":
        scale = cache[f"{name}_scale"].masked_fill(torch.arange(5) >= lengths[:, None, None], torch.nan)
        cache[f"{name}_scale"] = make.keep(scale, dtype="fixed")
    make.call("attend", make.normal(3, 4, 4, grad=False), cache, lengths)


def edge_queries_in_sixteen_bits(make):
    """queries in 16 bits: scores and sums are float32

    query 是 16 位：分数与求和用 float32
    """
    for dtype in (torch.bfloat16, torch.float16):
        q = make.keep(make.normal(2, 4, 8, grad=False).to(dtype), dtype="fixed")
        make.call("attend", q, made_up(make, 2, 2, 300, 8), torch.tensor([300, 200]))


def attending_at(make, t):
    make.call("attend", make.normal(1, 4, 64, grad=False), made_up(make, 1, 2, t, 64), torch.tensor([t]))


def keeping_at(make, t):
    handle = make.call("append_kv", {}, *(make.normal(1, 2, t, 64, grad=False) for _ in "kv"))
    make.compare(handle, False)


CONTRACTS = [
    {
        "check": "memory",
        "measure": measure,
        "from_nothing": True,
        "real": {"size": 65_536, "en": "64k context", "zh": "64k 上下文"},
        "case": record,
        "sizes": (512, 1024, 2048),
        "bound": bound,
        "growth_at_most": 1.0,
        "says": says,
    }
    for measure, record, bound, says in (
        (
            "largest",
            attending_at,
            lambda t: 256 * 4 * 64 + 2 * 4 * t,  # 256 tokens decoded, once per query head at the worst
            {"en": "the cache is decoded whole, or nearly", "zh": "把整个 cache（或差不多整个）解码了"},
        ),
        (
            "returned",
            keeping_at,
            lambda t: 1.07 * 2 * 2 * 64 * t,
            {"en": "the cache takes more than 1.07 bytes a number", "zh": "cache 每个数超过 1.07 字节"},
        ),
    )
]
