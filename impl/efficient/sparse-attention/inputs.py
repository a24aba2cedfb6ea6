"""Windows from 1 to the whole sequence and beyond, sinks inside and outside of them, both directions."""

from __future__ import annotations

AXES = {"q": "B H T d", "k": "B H T d", "v": "B H T d", "return": "B H T d"}
SIZES = {"B": (1, 2), "H": (1, 3), "T": (1, 9, 70), "d": (1, 5, 33), "window": (1, 6), "n_sink": (0, 4)}
LARGE = 10.0  # q and k both grow, so the logits reach ±200 and more
PROFILES = {"stable": ["large"]}
HARDENED = {"edge_more_than_the_sequence_has"}


def qkv(make, B, H, T, d):
    return make.normal(B, H, T, d), make.normal(B, H, T, d), make.normal(B, H, T, d)


def case(make):
    q, k = make.queries_and_keys()
    window, n_sink = (min(size, make.size("T")) for size in make.sizes("window", "n_sink"))
    make.call("sliding_window_attention", q, k, make.argument("v"), window, n_sink=n_sink, causal=make.flag())


def edge_windows_and_sinks(make):
    """windows of 1, T − 1 and T, sinks inside the window and ahead of the query: each visible key counts once

    窗口为 1、T − 1、T；sink 落在窗口里，或在 query 前方：看得到的 key 各算一次
    """
    q, k, v = qkv(make, 2, 2, 7, 3)
    for window, n_sink in ((1, 0), (1, 2), (3, 2), (2, 5), (6, 0), (7, 4), (1, 7)):
        for causal in (True, False):
            make.call("sliding_window_attention", q, k, v, window, n_sink, causal)


def edge_wide_windows(make):
    """90 tokens, windows of 75 and 40, up to sixty sinks, behind a tile of 32 too: more than one neighbouring tile counts

    90 个 token，窗口 75 和 40，最多六十个 sink，有的还在块（32 个）之后：相邻的块要算不止一块
    """
    make.call("sliding_window_attention", *qkv(make, 1, 1, 90, 2), 75, 1)
    for window, n_sink in ((40, 12), (3, 60)):
        make.call("sliding_window_attention", *qkv(make, 1, 1, 90, 2), window, n_sink, False)


def edge_more_than_the_sequence_has(make):
    """a window or a number of sinks beyond T is full attention, causal or not

    窗口或 sink 数超过 T，就是完整注意力，因果与否都一样
    """
    for T, window, n_sink in ((6, 7, 0), (6, 50, 2), (4, 1, 9), (1, 5, 3)):
        for causal in (True, False):
            make.call("sliding_window_attention", *qkv(make, 1, 2, T, 3), window, n_sink, causal)


def causal_at(make, T):
    make.call("sliding_window_attention", *qkv(make, 1, 1, T, 4), 8, 2)


def both_ways_at(make, T):
    make.call("sliding_window_attention", *qkv(make, 1, 1, T, 4), 8, 2, False)


def without_sinks_at(make, T):
    """Two sequences, and the window alone."""
    make.call("sliding_window_attention", *qkv(make, 2, 1, T, 4), 3)


_FLOPS = {
    "en": "the work grows with the square of the sequence length, as if every query scored every key",
    "zh": "计算量随序列长度的平方增长，好像每个 query 都给每个 key 打了分",
}
_LARGEST = {
    "en": "the largest tensor grows with the square of the sequence length",
    "zh": "最大的中间张量随序列长度的平方增长",
}
# Tiles of up to 32 tokens with their neighbours are sound; T² scores, or a T² mask, are not.
CONTRACTS = [
    {
        "check": check,
        "measure": measure,
        "real": {"size": 65_536, "en": "64k context", "zh": "64k 上下文"},
        "case": record,
        "sizes": (32, 96, 288),
        "growth_at_most": 1.0,
        "bound": bound,
        "says": says,
    }
    for record in (causal_at, both_ways_at, without_sinks_at)
    for check, measure, bound, says in (
        ("work", "flops", lambda T: 4000 * T, _FLOPS),
        ("memory", "largest", lambda T: 250 * T, _LARGEST),
    )
]
