"""Ragged blocks, more keys than queries and fewer, logits that grow from block to block."""

from __future__ import annotations

import torch

AXES = {"q": "B H T d", "k": "B H S d", "v": "B H S d", "return[0]": "B H T d", "return[1]": "B H T"}
SIZES = {
    "B": (1, 2),
    "H": (1, 3),
    "T": (1, 7, 17),
    "past": (0, 4, 66),
    "d": (1, 5, 33),
    "block_q": (1, 5),
    "block_k": (1, 5),
}
DERIVED = {"S": "T + past"}
LARGE = 10.0  # q and k both grow, so the logits reach ±200 and more
PROFILES = {"stable": ["large"]}
HARDENED = {"edge_rows_without_a_key"}


def call(make, q, *args, **kwargs):
    """Call the entry; lse may be float32 or have the dtype of the inputs."""
    handle = make.call("flash_attention", q, *args, **kwargs)
    make.dtypes(handle[1], torch.float32, q.dtype)


def drawn(make, B, H, T, S, d, *args, **kwargs):
    call(make, *(make.normal(B, H, count, d) for count in (T, S, S)), *args, **kwargs)


def case(make):
    q, k = make.queries_and_keys()
    blocks = {name: make.pick([make.size(name), 64]) for name in ("block_q", "block_k")}
    call(make, q, k, make.argument("v"), **blocks, causal=make.flag())


def edge_blocks(make):
    """blocks that divide the lengths, leave a rest, or hold one key; fewer keys than queries

    块大小整除长度、有余数、每块一个 key；key 比 query 少
    """
    for sizes in ((7, 11, 3, 3, 4, True), (5, 9, 3, 4, 1, True), (4, 8, 3, 2, 4), (8, 3, 3, 3, 2)):
        drawn(make, 2, 1, *sizes)


def edge_rows_without_a_key(make):
    """causal with S < T: where no key is visible out is 0, lse −inf, the gradient 0

    因果而 S < T：看不到 key 的行 out 为 0，lse 为 −inf，梯度为 0
    """
    for sizes in ((7, 3, 3, 2, 2), (5, 1, 3, 5, 1), (6, 4, 3)):
        drawn(make, 1, 2, *sizes, causal=True)


def edge_other_distances(make):
    """causal, 8 queries and 8, 9, then 11 keys: equal tiles hide other keys

    因果，8 个 query 依次对 8、9、11 个 key：块相同，挡住的 key 不同
    """
    for S in (8, 9, 11):
        drawn(make, 1, 1, 8, S, 3, 4, 4, True)


def edge_logits_from_block_to_block(make):
    """each block of keys beats the last by 50, or falls short of it by 6

    每块 key 比前一块高 50，或低 6
    """
    levels = torch.arange(10.0).repeat_interleave(2)[None, None, :9, None].expand(1, 1, 9, 2) - 2.0
    for k, q in (
        (levels, [[40.0, 30.0], [70.0, 0.0], [-70.0, 1.0]]),
        (-levels, [[4.0, 4.0], [5.0, 3.0], [3.0, 5.0]]),
    ):
        args = make.keep(torch.tensor([[q]]), grad=True), make.keep(k.contiguous(), grad=True), make.normal(1, 1, 9, 2)
        for causal in (False, True):
            call(make, *args, 2, 2, causal)


def edge_low_logits(make):
    """logits near −1000: the maximum may not start from 0

    logits 在 −1000 附近：最大值不能从 0 开始
    """
    q, k = torch.full((1, 1, 3, 1), 100.0), torch.tensor([-10.0, -10.01, -9.99, -10.02, -10.0]).reshape(1, 1, 5, 1)
    for causal in (False, True):
        call(make, make.keep(q, grad=True), make.keep(k, grad=True), make.normal(1, 1, 5, 1), 1, 2, causal)


def tiles_at(make, T):
    """More than twice as many keys as queries."""
    drawn(make, 1, 1, T, 2 * T + 8, 4, 32, 48)


def causal_tiles_at(make, T):
    """Default blocks."""
    drawn(make, 1, 2, T, T, 4, causal=True)


def all_tiles_at(make, T, causal=False):
    drawn(make, 1, 1, T, T, 64, 16, 16, causal)


_WORK = {
    "check": "work",
    "measure": "flops",
    "case": lambda make, T: all_tiles_at(make, T, True),
    "sizes": (48, 96, 144),
}
CONTRACTS = [
    *(
        {
            "check": "memory",
            "measure": "largest",
            "real": {"size": 65_536, "en": "64k context", "zh": "64k 上下文"},
            "case": record,
            "sizes": (32, 96, 192),
            "growth_at_most": 1.0,
            "bound": lambda T: 180 * T,  # a strip of 64 keys for all queries is sound
            "says": {
                "en": "the largest tensor grows with T·S",
                "zh": "最大的张量随 T·S 增长",
            },
        }
        for record in (tiles_at, causal_tiles_at)
    ),
    {
        **_WORK,
        "growth_at_most": 0.9,  # half of the tiles and the diagonal; scores may be computed twice
        "bound": lambda T: (4 * 64 + 10) * T * T,
        "says": {
            "en": "causal attention does full attention's work: tiles without a visible key are not skipped",
            "zh": "因果注意力做了全部的计算量：看不到任何 key 的块没有跳过",
        },
    },
    {
        **_WORK,
        "beside": all_tiles_at,
        "growth_at_most": 0.6,  # half of the tiles and the diagonal: 0.556, then 0.533
        "says": {
            "en": "tiles without a visible key are computed in part",
            "zh": "看不到任何 key 的块算了一部分才跳过",
        },
    },
]
