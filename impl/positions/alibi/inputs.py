"""Any number of heads, powers of two and not, whole passes and decoding over a past."""

from __future__ import annotations

import torch

AXES = {"return": "n_heads T S"}
SIZES = {"n_heads": (1, 9, 70), "T": (1, 5, 60), "past": (0, 6, 400)}
DERIVED = {"S": "T + past"}
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"]}
GRADIENTS = False


def case(make):
    bias(make, *make.sizes("n_heads", "T", "S"))


def bias(make, *sizes):
    """A call, judged where a causal mask lets it act."""
    make.judge(lambda got: first_wrong(got.double(), *sizes), make.call("alibi_bias", *sizes))


def first_wrong(got, n_heads, T, S):
    distance = torch.arange(S - T, S)[:, None] - torch.arange(S)
    due = -torch.tensor(slopes(n_heads)).double()[:, None, None] * distance
    off = ~((got - due).abs() <= 1e-5 * (1e-3 + due.abs())) & (distance >= 0)
    if not off.any():
        return None
    h, i, j = (int(k) for k in off.nonzero()[0])
    there, mine, right = f"[n_heads={h}, T={i}, S={j}]", float(got[h, i, j]), float(due[h, i, j])
    return (
        f"the bias at {there} is {mine:.6g}, expected {right:.6g}",
        f"{there} 处的偏置是 {mine:.6g}，应为 {right:.6g}",
    )


def slopes(n_heads):
    """Return the slopes as in the paper's code: missing ones are every other slope of twice as many heads."""
    if n_heads & (n_heads - 1) == 0:
        return [2 ** (-8 * (k + 1) / n_heads) for k in range(n_heads)]
    below = 1 << (n_heads.bit_length() - 1)
    return slopes(below) + slopes(2 * below)[::2][: n_heads - below]


def edge_numbers_of_heads(make):
    """1 to 17 heads: a geometric sequence, with interleaved slopes if the number is no power of two

    1 到 17 个头：等比数列；头数不是 2 的幂时，补上交错的那些
    """
    for n_heads in range(1, 18):
        bias(make, n_heads, 2, 4)


def edge_decoding(make):
    """one query over 1 to 9 keys: it is the last position

    一个 query 对 1 到 9 个 key：它在最后一个位置
    """
    for S in (1, 2, 5, 9):
        bias(make, 3, 1, S)


def edge_far_keys(make):
    """keys 5,000 tokens back

    5,000 个 token 之前的 key
    """
    bias(make, 8, 1, 5001)
