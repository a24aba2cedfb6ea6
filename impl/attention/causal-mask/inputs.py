"""Square masks, masks over a past of any length, too few keys, and other devices."""

from __future__ import annotations

import torch

AXES = {"return": "T S"}
SIXTEEN_BITS = "native"
GRADIENTS = False


def case(make):
    T, past = make.size(1, 7), make.size(0, 9)
    device = make.device
    if make.profile == "meta":
        make.call("causal_mask", T, device=device)
        make.call("causal_mask", T, T + past, device=str(device))
        return
    style = make.pick(["square", "past", "keyword", "none", "error"])
    if style == "square":
        make.call("causal_mask", T, device=device)
    elif style == "past":
        make.call("causal_mask", T, T + past, device=device)
    elif style == "keyword":
        make.call("causal_mask", T, S=T + past)
    elif style == "none":
        make.call("causal_mask", T, None, device=None)
    else:
        make.raises(ValueError, "causal_mask", T + 1, T - past % T, device=device)


def edge_one_query_over_a_past(make):
    """decoding: one query, seven keys, and it sees them all

    解码：一个 query、七个 key，全都看得到
    """
    make.call("causal_mask", 1, 7)


def edge_one_by_one(make):
    """T = S = 1

    T = S = 1：只有一格
    """
    make.call("causal_mask", 1)
    make.call("causal_mask", 1, 1)


def edge_diagonal(make):
    """a square mask: every query sees itself

    方形掩码：每个 query 都看得到自己
    """
    make.call("causal_mask", 5)


def edge_queries_come_last(make):
    """three queries over eight keys: they are positions 5, 6 and 7

    三个 query、八个 key：query 在位置 5、6、7
    """
    make.call("causal_mask", 3, 8)
    make.call("causal_mask", 7, 8)


def edge_too_few_keys(make):
    """S < T raises ValueError

    S < T 时抛 ValueError
    """
    make.raises(ValueError, "causal_mask", 2, 1)
    make.raises(ValueError, "causal_mask", 5, 4)
    make.raises(ValueError, "causal_mask", 7, S=3)


def edge_device_as_text(make):
    """device= may be a string, a torch.device or None

    device= 可以是字符串、torch.device 或 None
    """
    make.call("causal_mask", 3, 5, device="cpu")
    make.call("causal_mask", 4, device=torch.device("cpu"))
    make.call("causal_mask", 4, device=None)


def edge_default_device(make):
    """device=None means torch's default device, whichever that is

    device=None 指 torch 当前的默认设备，不管它是哪一个
    """
    make.default_device()
    make.call("causal_mask", 2, 5)
    make.call("causal_mask", 3, device=None)


def edge_two_calls(make):
    """each call returns a tensor of its own, equal arguments or not

    不管参数是否相同，每次调用都返回自己的张量
    """
    make.call("causal_mask", 4, 6)
    make.call("causal_mask", 4, 6)
    make.call("causal_mask", 6)
    make.call("causal_mask", 4)
    make.call("causal_mask", 4)


def edge_long(make):
    """many queries, and few over a very long past: positions beyond 8 and 16 bits

    query 很多，或 query 少而过去极长：位置超出 8 位、16 位
    """
    make.call("causal_mask", 65, 130)
    make.call("causal_mask", 140, 300)
    make.call("causal_mask", 260)
    make.call("causal_mask", 3, 5000)
    make.call("causal_mask", 2, 70_000)


def edge_far_too_few_keys(make):
    """S < T raises ValueError, however short S falls

    S < T 就抛 ValueError，不管 S 小多少
    """
    make.raises(ValueError, "causal_mask", 300, 1)
    make.raises(ValueError, "causal_mask", 40, 20, device=torch.device("cpu"))
    make.raises(ValueError, "causal_mask", 2000, S=1999)
