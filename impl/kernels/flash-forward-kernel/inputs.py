"""Lengths that leave a rest in every block, more keys than queries and fewer, scores that grow from block to block."""

from __future__ import annotations

import torch

AXES = {"q": "B H T d", "k": "B H S d", "v": "B H S d", "return[0]": "B H T d", "return[1]": "B H T"}
SIZES = {"B": (1, 1), "H": (1, 2), "T": (1, 7), "past": (0, 6), "d": (1, 9)}
DERIVED = {"S": "T + past"}
GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"], "low-precision": ["fp16"]}
HARDENED = {"edge_queries_without_a_key"}
WITHOUT_MOTIFS = {"scores-tied-in-bfloat16", "styles"}


def drawn(make, B, H, T, S, d, **kwargs):
    shapes = ((B, H, T, d), (B, H, S, d), (B, H, S, d))
    make.call("flash_forward", *(make.normal(*shape, grad=False) for shape in shapes), **kwargs)


def case(make):
    q, k = make.queries_and_keys()
    make.call("flash_forward", q, k, make.argument("v"), causal=make.flag())


def edge_many_blocks(make):
    """several blocks of queries and of keys, the last ones ragged

    query 和 key 都有好几块，最后一块不满
    """
    drawn(make, 1, 2, 70, 140, 5)
    drawn(make, 2, 1, 70, 140, 5, causal=True)
    drawn(make, 1, 1, 140, 35, 24)


def edge_batch_and_heads(make):
    """several heads in each entry of a batch

    batch 里有好几条，每条有好几个 head
    """
    drawn(make, 3, 2, 5, 7, 3)
    drawn(make, 2, 3, 6, 9, 4, causal=True)


def edge_around_a_power_of_two(make):
    """lengths and widths at a power of two, one below and one above it

    长度和宽度恰好是 2 的幂、少一个、多一个
    """
    for T, S, d in ((16, 17, 16), (17, 16, 17), (64, 65, 8), (65, 64, 4)):
        drawn(make, 1, 1, T, S, d)
    drawn(make, 1, 1, 64, 64, 8, causal=True)
    drawn(make, 1, 1, 65, 129, 3, causal=True)


def edge_scores_from_block_to_block(make):
    """scores that rise by hundreds from block to block, then fall, then all lie near −1000

    分数一块比一块高几百；一块比一块低；全在 −1000 附近
    """
    steps = torch.arange(140).div(20, rounding_mode="floor")[None, None, :, None].float()
    q = torch.tensor([20.0, 30.0, 10.0])[None, None, :, None]
    for k in (10.0 * steps, -10.0 * steps, -50.0 - 0.01 * steps):
        make.call("flash_forward", make.keep(q), make.keep(k), make.normal(1, 1, 140, 1, grad=False))


def edge_queries_without_a_key(make):
    """causal with S < T: the first queries see no key

    因果而 S < T：前面的 query 一个 key 也看不到
    """
    for T, S in ((7, 3), (80, 20), (150, 1)):
        drawn(make, 1, 2, T, S, 3, causal=True)


def _square(make, T, causal=False):
    drawn(make, 1, 1, T, T, 4, causal=causal)


def _longer(make, T):
    drawn(make, 1, 1, T, 2 * T, 4)


CONTRACTS = [
    {
        "check": "work",
        "measure": "moved",
        "case": _square,
        "sizes": (128, 256),
        "bound": lambda T: 4 * (2 * T * 4 * T / 16 + 2 * T * 4 + T),
        "growth_at_most": 1.1,
        "says": {
            "en": "keys and values are loaded more than once for every 16 queries",
            "zh": "每 16 个 query 读 key 和 value 不止一遍",
        },
    },
    {
        "check": "work",
        "measure": "moved",
        "case": lambda make, T: _square(make, T, True),
        "beside": _square,
        "sizes": (128, 256),
        "growth_at_most": 0.8,
        "says": {
            "en": "with causal, blocks of keys that no query of a program sees are loaded all the same",
            "zh": "因果时，一个 program 的 query 都看不到的 key 块也照样读了",
        },
    },
    {
        "check": "memory",
        "measure": "largest",
        "real": {"size": 65_536, "en": "64k context", "zh": "64k 上下文"},
        "case": _longer,
        "sizes": (32, 64, 128),
        "bound": lambda T: 64 * T,
        "growth_at_most": 1.0,
        "says": {"en": "the largest tensor grows with T·S", "zh": "最大的张量随 T·S 增长"},
    },
]
