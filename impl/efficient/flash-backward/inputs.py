"""Ragged blocks, more keys than queries and fewer, scores that grow from block to block."""

from __future__ import annotations

import torch

AXES = {"q": "B H T d", "k": "B H S d", "v": "B H S d", "o": "B H T d", "lse": "B H T", "do": "B H T d"}
AXES |= {"return[0]": "B H T d", "return[1]": "B H S d", "return[2]": "B H S d"}
SIZES = {"B": (1, 2), "H": (1, 2), "T": (1, 7, 40), "past": (0, 4, 66), "d": (1, 5, 33), "block": (1, 5)}
DERIVED = {"S": "T + past"}
GRADIENTS = False
LARGE = 6.0  # q and k both grow, so the scores reach ±200
PROFILES = {"stable": ["large"]}
TOLERANCE_STABLE = {"float32": 1e-2}  # keys of some tens times differences near 0
# Where scores pass 1000, their rounding times keys that large is more than any tolerance; and o and do are never q.
_SCORES = {"scores-later-keys-lead", "scores-very-low", "scores-beyond-float16", "scores-tied-in-bfloat16"}
WITHOUT_MOTIFS = {"same"} | _SCORES


def backward(make, q, k, v, causal, *block):
    """o and lse as a forward pass in float64 leaves them, in their own dtypes."""
    T, S = q.shape[2], k.shape[2]
    scores = q.double() @ k.double().transpose(-1, -2) * q.shape[3] ** -0.5
    if causal:
        scores = scores.masked_fill(torch.ones(T, S).triu(S - T + 1).bool(), -torch.inf)
    lse = scores.logsumexp(-1)
    o = (scores - lse.masked_fill(lse == -torch.inf, 0.0)[..., None]).exp() @ v.double()
    saved = make.keep(o), make.keep(lse.float(), dtype="fixed") if make.dtype.itemsize == 2 else make.keep(lse)
    do = make.normal(*q.shape, grad=False)
    make.call("flash_attention_backward", q, k, v, *saved, do, causal, *block)


def drawn(make, B, H, T, S, d, causal=False, *block):
    backward(make, *(make.normal(B, H, count, d, grad=False) for count in (T, S, S)), causal, *block)


def case(make):
    q, k = make.queries_and_keys()
    backward(make, q, k, make.argument("v"), make.flag(), make.pick([make.size("block"), 64]))


def edge_blocks(make):
    """blocks that divide the lengths, leave a rest, hold one row or all; fewer keys than queries

    块大小整除长度、有余数、每块一行、一块装下全部；key 比 query 少
    """
    for sizes in (
        (6, 6, 3, True, 3),
        (7, 11, 3, True, 4),
        (5, 9, 3, False, 1),
        (4, 8, 2, True, 64),
        (8, 3, 3, False, 2),
    ):
        drawn(make, 2, 1, *sizes)


def edge_one_tensor(make):
    """q, k and v are one tensor

    q、k、v 是同一个张量
    """
    x = make.normal(1, 2, 5, 3, grad=False)
    for causal in (False, True):
        backward(make, x, x, x, causal, 2)


def edge_default_block(make):
    """default blocks of 64, and more rows than one block

    默认块大小 64，行数超过一块
    """
    for causal in (False, True):
        drawn(make, 1, 1, 70, 130, 2, causal)


def edge_rows_without_a_key(make):
    """causal with S < T: the first rows see no key, their lse is −∞, they contribute nothing

    因果而 S < T：最前面的行看不到 key，lse 为 −∞，没有贡献
    """
    for sizes in ((7, 3, 3, True, 2), (5, 1, 3, True, 5), (6, 4, 3, True)):
        drawn(make, 1, 2, *sizes)


def edge_scores_that_grow(make):
    """scores that grow by 40 from block to block: weights of 0 in the first ones, dq and dk near 0 in a sure row

    分数逐块增大 40：前面块的权重为 0；完全确定的行 dq、dk 接近 0
    """
    q = torch.full((1, 1, 3, 1), 8.0)
    k = (5.0 * torch.arange(6.0)).view(1, 1, 6, 1)
    for causal in (False, True):
        backward(make, make.keep(q), make.keep(k), make.normal(1, 1, 6, 1, grad=False), causal, 2)


def at(make, T):
    drawn(make, 1, 1, T, T, 4, True, 16)


CONTRACTS = [
    {
        "check": "memory",
        "measure": "largest",
        "case": at,
        "sizes": (64, 192, 576),
        "bound": lambda T: 100 * T,  # a strip of one block of keys for all queries is sound
        "growth_at_most": 1.0,
        "says": {"en": "the largest tensor grows with T·S", "zh": "最大的张量随 T·S 增长"},
    }
]
