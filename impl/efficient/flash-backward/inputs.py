"""Outputs and log-sum-exps of a forward pass in float64, ragged blocks, more keys than queries and fewer."""

from __future__ import annotations

import math

import torch

AXES = {
    "q": "B H T d",
    "k": "B H S d",
    "v": "B H S d",
    "o": "B H T d",
    "lse": "B H T",
    "do": "B H T d",
    "return[0]": "B H T d",
    "return[1]": "B H S d",
    "return[2]": "B H S d",
}
SIZES = {"B": (1, 2), "H": (1, 3), "T": (1, 7, 33), "past": (0, 4, 60), "d": (1, 5, 33), "block": (1, 5)}
DERIVED = {"S": "T + past"}
LARGE = 10.0  # q and k both grow, so the logits reach ±200 and more
PROFILES = {"stable": ["large"]}
GRADIENTS = False
TOLERANCE = {"float32": 1e-30, "float64": 1e-30}  # weights far below all others are rounded to zero, or nearly so
WITHOUT_MOTIFS = {"same"}  # o and lse belong to q, k and v
HARDENED = {"edge_rows_without_a_key"}


def forward(q, k, v, causal):
    """What a forward pass returns; rows without a key give 0 and −inf."""
    scores = q.double() @ k.double().mT / math.sqrt(q.shape[-1])
    if causal:
        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(k.shape[2] - q.shape[2] + 1)
        scores = scores.masked_fill(future, -math.inf)
    lse = scores.logsumexp(-1)
    return torch.exp(scores - lse.nan_to_num(neginf=0.0)[..., None]) @ v.double(), lse


def call(make, q, k, v, do, causal, *block):
    """q, k and v as they are after rounding; lse in float32 beside 16 bits."""
    o, lse = forward(q.detach(), k.detach(), v.detach(), causal)
    short = make.dtype.itemsize == 2 or q.dtype.itemsize == 2
    o = make.keep(o.to(q.dtype), dtype="fixed" if short else "follow")
    lse = make.keep(lse.float(), dtype="fixed") if short else make.keep(lse)
    make.call("flash_attention_backward", q, k, v, o, lse, do, causal, *block)


def case(make):
    q, k = make.queries_and_keys()
    v, do = make.arguments("v", "do")
    call(make, q, k, v, do, make.flag(), make.pick([make.size("block"), 64]))


def drawn(make, B, H, T, S, d, causal, *block):
    q, k, v, do = (make.normal(B, H, n, d) for n in (T, S, S, T))
    call(make, q, k, v, do, causal, *block)


def edge_blocks(make):
    """blocks that divide the lengths, leave a rest, hold one key, or everything; fewer keys than queries

    块大小整除长度、有余数、每块一个 key、一块装下全部；key 比 query 少
    """
    for T, S, block in ((6, 6, 3), (7, 11, 3), (5, 9, 1), (4, 8, 50), (8, 8, 5)):
        for causal in (True, False):
            drawn(make, 1, 2, T, S, 3, causal, block)
    drawn(make, 1, 2, 8, 3, 3, False, 2)


def edge_rows_without_a_key(make):
    """causal with S < T: rows without a key have lse −inf and pass nothing on

    因果而 S < T：看不到 key 的行 lse 为 −inf，什么也不往回传
    """
    for T, S, block in ((7, 3, 2), (5, 1, 5), (6, 4, 64)):
        drawn(make, 1, 2, T, S, 3, True, block)


def edge_low_and_high_scores(make):
    """scores near −1000 or +1000: exp of the score alone vanishes or overflows

    分数在 −1000 或 +1000 附近：单独取 exp 会成 0 或溢出
    """
    for level in (-10.0, 10.0):
        q = make.keep(torch.full((1, 1, 4, 1), 100.0))
        k = make.keep(level + 0.01 * torch.arange(5.0)[None, None, :, None])
        for causal in (True, False):
            call(make, q, k, make.normal(1, 1, 5, 1), make.normal(1, 1, 4, 1), causal, 2)


def tiles_at(make, T):
    """More than twice as many keys as queries."""
    drawn(make, 1, 1, T, 2 * T + 8, 4, False, 32)


def causal_tiles_at(make, T):
    """The default block."""
    drawn(make, 1, 2, T, T, 4, True)


CONTRACTS = [
    {
        "check": "memory",
        "measure": "largest",
        "real": {"size": 65_536, "en": "64k context", "zh": "64k 上下文"},
        "case": record,
        "sizes": (32, 96, 192),
        "growth_at_most": 1.0,
        "bound": lambda T: 180 * T,  # a strip of 64 keys for all queries is sound
        "says": {"en": "the largest tensor grows with T·S", "zh": "最大的张量随 T·S 增长"},
    }
    for record in (tiles_at, causal_tiles_at)
]
