"""Packs of one to five sequences of any length, empty ones included, and keys next door that would win."""

from __future__ import annotations

import itertools

import torch

AXES = {f"seqs[{r}]": f"n_{r} H d" for r in range(5)} | {
    "pack.return[0]": "N H d",
    "pack.return[1]": "R+1",
    "q": "N H d",
    "k": "N H d",
    "v": "N H d",
    "cu_seqlens": "R+1",
    "varlen_attention.return": "N H d",
}
SIZES = {"R": (1, 4), "n": (1, 6, 70), "H": (1, 3), "d": (1, 5, 33)}
LARGE = 10.0  # q and k both grow, so the logits reach ±200 and more
PROFILES = {"stable": ["large"]}


def attend(make, lengths, q, k, v, causal):
    ends = torch.tensor([0, *itertools.accumulate(lengths)], dtype=torch.int32)
    make.call("varlen_attention", q, k, v, make.keep(ends), causal=causal)


def drawn(make, lengths, H, d, causal):
    attend(make, lengths, *(make.normal(sum(lengths), H, d) for _ in range(3)), causal)


def case(make):
    R, n, H, d = make.sizes("R", "n", "H", "d")
    lengths = [n, *(make.pick([n // 2, 1, n + 1, 0]) for _ in range(R - 1))]
    lengths = lengths[::-1] if make.flag() else lengths
    packed = make.call("pack", [make.normal(length, H, d) for length in lengths])
    drawn(make, lengths, H, d, make.flag())
    make.call("varlen_attention", packed[0], packed[0], packed[0], packed[1], make.flag())


def stable(make):
    drawn(make, [3, 1, 5], make.size(1, 3), make.size(1, 5), make.flag())


def edge_empty_sequences(make):
    """empty sequences first, last, between and twice over; sequences of one token

    空序列在开头、末尾、中间，或连续两个；只有一个 token 的序列
    """
    for lengths in ([0, 3], [2, 0], [2, 0, 0, 3, 1], [3, 1, 0], [1, 1, 1], [1]):
        make.call("pack", [make.normal(length, 2, 3) for length in lengths])
        for causal in (True, False):
            drawn(make, lengths, 2, 3, causal)


def edge_keys_next_door_lead(make):
    """keys of other sequences, and later keys, score higher by hundreds: no influence

    其他序列的 key、后面的 key 分数高出几百：不得影响结果
    """
    lengths = [3, 4, 2]
    q = make.keep(torch.full((9, 2, 1), 20.0), grad=True)
    for levels in (torch.arange(9.0) * 5, -torch.arange(9.0) * 5, (torch.arange(9) % 4) * 10.0):
        k = make.keep(levels[:, None, None].expand(9, 2, 1), grad=True)
        for causal in (True, False):
            attend(make, lengths, q, k, make.normal(9, 2, 1), causal)


def edge_beyond_float16(make):
    """float16 inputs whose scores pass 65 504

    float16 输入，分数超过 65 504
    """
    q, v = torch.full((5, 1, 1), 300.0), torch.tensor([1.0, -2.0, 3.0, 0.5, 4.0])[:, None, None]
    k = 300.0 - 0.25 * torch.arange(5.0).flip(0)[:, None, None]
    tensors = [make.keep(t.half(), dtype="fixed") for t in (q, k, v)]
    for causal in (True, False):
        attend(make, [3, 2], *tensors, causal)


def equal_at(make, R):
    """More and more sequences of 16."""
    drawn(make, [16] * R, 2, 64, True)


def one_long_at(make, R):
    """One sequence of 48, and more and more of a single token."""
    drawn(make, [1] * (R // 2) + [48] + [1] * (R // 2), 2, 64, False)


def _squares(record, R):
    return 256 * R if record is equal_at else 48**2 + R // 2 * 2


def _tokens(record, R):
    return 16 * R if record is equal_at else 48 + R // 2 * 2


CONTRACTS = [
    {
        "check": check,
        "measure": measure,
        "case": record,
        "sizes": (4, 16, 48),
        "growth_at_most": 1.0,
        "from_nothing": True,
        "bound": (lambda R, record=record: 2 * _squares(record, R) + 8 * 64 * _tokens(record, R))
        if check == "memory"
        else (lambda R, record=record: 4.4 * 2 * 64 * _squares(record, R) + 25 * 2 * 64 * _tokens(record, R)),
        "says": {
            "en": f"the {en} is that of one mask for the pack, or of padding",
            "zh": f"{zh}相当于整包一个掩码，或者做了填充",
        },
    }
    for check, measure, en, zh in (
        ("memory", "largest", "largest tensor", "最大的张量"),
        ("work", "flops", "work", "计算量"),
    )
    for record in (equal_at, one_long_at)
]
