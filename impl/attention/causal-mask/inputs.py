"""Square masks, masks over a past of any length, too few keys, and other devices."""

from __future__ import annotations

AXES = {"return": "T S"}
SIZES = {"T": (1, 7, 260), "past": (0, 9, 5000)}
DERIVED = {"S": "T + past"}
GRADIENTS = False


def case(make):
    kind = make.pick(["past", "square", "by keyword", "no S", "too few"])
    T, S = make.sizes("T", "S")
    elsewhere = make.profile == "meta"
    device = make.pick([make.device, str(make.device), make.device if elsewhere else None])
    if kind == "too few":
        make.raises(ValueError, "causal_mask", S + 1, T, device=device)
    elif kind == "by keyword":
        make.call("causal_mask", T, S=S, device=device)
    elif kind == "square" and not elsewhere:
        make.call("causal_mask", T)
    else:
        make.call("causal_mask", T, S if kind == "past" else None, device=device)


def edge_queries_come_last(make):
    """three queries over eight keys are positions 5, 6 and 7; one query over seven sees them all

    八个 key、三个 query：query 在位置 5、6、7；七个 key、一个 query：全都看得到
    """
    for T, S in ((3, 8), (7, 8), (1, 7)):
        make.call("causal_mask", T, S)


def edge_too_few_keys(make):
    """S < T raises ValueError, by one or by thousands

    S < T 就抛 ValueError，差一个、差几千个都一样
    """
    for T, S in ((2, 1), (5, 4), (40, 20), (2000, 1999), (3000, 1)):
        make.raises(ValueError, "causal_mask", T, S)


def edge_default_device(make):
    """device=None means torch's default device

    device=None 指 torch 当前的默认设备，不管它是哪一个
    """
    make.default_device()
    make.call("causal_mask", 2, 5)
    make.call("causal_mask", 3, device=None)


def edge_long(make):
    """a very long past, and many queries: positions beyond 16 bits

    过去极长，query 很多：位置超出 16 位
    """
    for T, S in ((65, 130), (140, 300), (2, 70_000)):
        make.call("causal_mask", T, S)
