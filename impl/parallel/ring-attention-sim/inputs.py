"""One to four ranks with chunks of unequal lengths, scores that grow from chunk to chunk, and rings that get longer."""

from __future__ import annotations

import torch

AXES = {f"{name}_chunks[{r}]": f"B H t_{r} d" for name in "qkv" for r in range(4)}
AXES |= {f"return[{r}]": f"B H t_{r} d" for r in range(4)}
SIZES = {"B": (1, 2), "H": (1, 3), "P": (1, 4), "t": (1, 5, 40), "d": (1, 5, 33)}
LARGE = 10.0  # q and k both grow, so the logits reach ±200 and more
PROFILES = {"stable": ["large"]}


def call(make, lengths, B, H, d, causal):
    chunks = [[make.normal(B, H, t, d) for t in lengths] for _ in range(3)]
    make.call("ring_attention", *chunks, causal)


def case(make):
    B, H, P, t, d = make.sizes("B", "H", "P", "t", "d")
    lengths = [t, *(make.pick([t // 2 + 1, t, t + 2, 1]) for _ in range(P - 1))]
    call(make, lengths[::-1] if make.flag() else lengths, B, H, d, make.flag())


def edge_chunks(make):
    """one rank, chunks of one token, lengths that rise and fall

    只有一个 rank，每块一个 token，长度递增或递减
    """
    for lengths in ((5,), (1, 1, 1, 1), (1, 2, 4, 3), (4, 2, 1)):
        for causal in (True, False):
            call(make, lengths, 1, 2, 3, causal)


def edge_scores_from_chunk_to_chunk(make):
    """each chunk of keys leads the last by 100, or falls short of it; all scores near −1000

    每块 key 的分数比前一块高 100，或低 100；分数全在 −1000 附近
    """
    place = torch.arange(9, dtype=torch.float64)
    for levels in (10.0 * (place // 3), -10.0 * (place // 3), -100.0 + place / 9):
        k = (levels + 0.1 * (place % 3))[None, None, :, None].split([3, 4, 2], 2)
        q = torch.full((1, 1, 9, 1), 10.0).split([3, 4, 2], 2)
        chunks = [[make.keep(part, grad=True) for part in whole] for whole in (q, k)]
        for causal in (True, False):
            make.call("ring_attention", *chunks, [make.normal(1, 1, t, 1) for t in (3, 4, 2)], causal)


def edge_beyond_float16(make):
    """float16 inputs whose scores pass 65 504

    float16 输入，分数超过 65 504
    """
    q, v = torch.full((1, 1, 5, 1), 300.0), torch.tensor([1.0, -2.0, 3.0, 0.5, 4.0])[None, None, :, None]
    k = 300.0 - 0.25 * torch.arange(5.0).flip(0)[None, None, :, None]
    chunks = [[make.keep(part.half(), dtype="fixed") for part in whole.split([3, 2], 2)] for whole in (q, k, v)]
    for causal in (True, False):
        make.call("ring_attention", *chunks, causal)


def ring_of(make, P):
    """More and more ranks of eight tokens."""
    call(make, [8] * P, 1, 1, 64, False)


def causal_ring_of(make, P):
    call(make, [8] * P, 1, 1, 64, True)


_SKIPPED = {
    "en": "causal attention computes hops whose keys all lie in the future",
    "zh": "因果时，key 全在未来的那几步没有跳过",
}
_WORK = {"check": "work", "measure": "flops", "case": causal_ring_of, "sizes": (4, 8, 16), "says": _SKIPPED}
CONTRACTS = [
    {
        "check": "memory",
        "measure": "largest",
        "real": {"size": 64, "en": "a ring of 64", "zh": "64 个 rank"},
        "case": record,
        "sizes": (2, 4, 8),
        "growth_at_most": 1.0,
        "bound": lambda P: 16 * P,  # joined keys are 512 a rank
        "says": {
            "en": "the largest tensor grows with the ranks: chunks are joined",
            "zh": "最大的张量随 rank 数增长：各块被拼了起来",
        },
    }
    for record in (ring_of, causal_ring_of)
] + [
    # (P + 1)/2P of all pairs: growth of 0.542, then 0.521
    _WORK | {"growth_at_most": 0.6, "beside": ring_of},
    _WORK | {"growth_at_most": 0.8, "bound": lambda P: (4 * 64 + 40) * (8 * P) ** 2},
]
