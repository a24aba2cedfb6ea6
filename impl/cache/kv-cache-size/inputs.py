"""Every kind of attention, with just the keys that it needs and with all; contexts below, at and beyond the window."""

from __future__ import annotations

GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"]}
SIZES = {
    "T": (1, 30),
    "B": (1, 5),
    "layers": (1, 6),
    "groups": (1, 4),
    "R": (2, 5),
    "head_dim": (1, 9),
    "window": (1, 30),
}

_NEEDS = {
    "mha": ("n_heads", "head_dim"),
    "gqa": ("n_kv", "head_dim"),
    "mqa": ("head_dim",),
    "mla": ("r_kv", "d_rope"),
    "swa": ("n_kv", "head_dim", "window"),
}


def case(make):
    kind = make.pick(list(_NEEDS))
    layers, G, R, d, window = make.sizes("layers", "groups", "R", "head_dim", "window")
    cfg = {"n_heads": G * R, "n_kv": G, "head_dim": d, "r_kv": 3 * d + 1, "d_rope": d + 2, "window": window}
    if make.flag():
        cfg = {name: cfg[name] for name in _NEEDS[kind]}
    make.call("kv_bytes", {"layers": layers, "kind": kind, **cfg}, *make.sizes("T", "B"), make.pick([2, 1, 4]))


def edge_mqa_whatever_n_kv_says(make):
    """mqa has one KV head, whatever n_kv and n_heads say

    mqa 只有一个 KV 头，不管 n_kv、n_heads 写多少
    """
    for n_kv in (1, 8, 32):
        make.call("kv_bytes", {"layers": 2, "kind": "mqa", "n_heads": 32, "n_kv": n_kv, "head_dim": 64}, 10, 3, 2)


def edge_window(make):
    """fewer tokens than the window, just as many, more; a window that another kind does not use

    token 比窗口少、刚好相等、更多；别的种类带着用不上的 window
    """
    cfg = {"layers": 3, "n_heads": 12, "n_kv": 2, "head_dim": 8, "window": 16}
    for kind in ("swa", "gqa", "mha", "mqa"):
        for T in (15, 16, 17, 4000):
            make.call("kv_bytes", {**cfg, "kind": kind}, T, 2, 2)


def edge_models(make):
    """sizes of real models: 8 groups of 128, a latent of 512 and a rotary key of 64; int is exact

    真实模型的大小：8 组宽 128，潜向量 512 加 RoPE key 64；int 没有误差
    """
    for cfg in (
        {"layers": 32, "kind": "mha", "n_heads": 32, "head_dim": 128},
        {"layers": 80, "kind": "gqa", "n_heads": 64, "n_kv": 8, "head_dim": 128},
        {"layers": 61, "kind": "mla", "n_heads": 128, "r_kv": 512, "d_rope": 64},
        {"layers": 32, "kind": "swa", "n_heads": 32, "n_kv": 8, "head_dim": 128, "window": 4096},
    ):
        for T, B, dtype_bytes in ((4096, 1, 2), (131_072, 7, 2), (10**15 + 1, 4097, 1)):
            make.call("kv_bytes", cfg, T, B, dtype_bytes)
