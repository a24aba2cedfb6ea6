"""Block scores that are no ties, ragged last blocks, more blocks asked for than there are."""

from __future__ import annotations

import torch

AXES = {"q": "B H T d", "k": "B H T d", "v": "B H T d", "return": "B H T d"}
SIZES = {"B": (1, 2), "H": (1, 3), "T": (1, 13, 50), "d": (1, 5, 33), "block": (1, 4), "k_blocks": (1, 4)}
PROFILES = {"stable": ["large"]}
_CLOSE = 1e-4
_LONGEST = 1024  # beyond, shapes alone count


def apart(make, B, H, T, d, block, k_blocks, size=1.0):
    """q and k such that no query chooses between blocks whose scores are closer than rounding could tell."""
    while True:
        q, k = (size * torch.randn(B, H, T, d, generator=make.random, dtype=torch.float64) for _ in range(2))
        q, k = q.to(make.dtype).double(), k.to(make.dtype).double()
        if worst_gap(q, k, block, k_blocks) > _CLOSE * size * size:
            return make.keep(q, grad=True), make.keep(k, grad=True)


def worst_gap(q, k, block, k_blocks):
    """The smallest distance of a score that is chosen to one that is not, among the past blocks of a query."""
    n = k.shape[2] // block
    if k_blocks == 1 or k_blocks >= n or k.shape[2] > _LONGEST:
        return 1.0
    scores = q @ k[:, :, : n * block].unflatten(2, (n, block)).mean(3).mT
    past = torch.arange(n) < torch.arange(q.shape[2])[:, None] // block
    ranked = scores.masked_fill(~past, -1e9).sort(-1, descending=True).values
    return float((ranked[..., k_blocks - 2] - ranked[..., k_blocks - 1]).where(past.sum(-1) >= k_blocks, 1.0).min())


def call(make, sizes, block, k_blocks, size=1.0):
    q, k = apart(make, *sizes, block, k_blocks, size)
    make.call("topk_block_attention", q, k, make.normal(*sizes), block, k_blocks)


def case(make):
    sizes, (block, k_blocks) = make.sizes("B", "H", "T", "d"), make.sizes("block", "k_blocks")
    call(make, sizes, block, k_blocks, make.pick([1.0, 3.0]))


def stable(make):
    call(make, (1, 2, make.size(5, 12), 4), make.pick([2, 3]), make.pick([2, 3]), 10.0)  # logits to ±200 and more


def edge_whole_and_ragged(make):
    """one block for all, blocks of one key, a last block of one key; all blocks and more are full causal attention

    一块就装下全部、每块一个 key、最后一块只剩一个 key；要全部块甚至更多块时，就是完整的因果注意力
    """
    for T, block, k_blocks in ((5, 8, 1), (5, 5, 3), (6, 1, 3), (7, 3, 2), (7, 3, 3), (7, 2, 50), (1, 1, 1), (9, 4, 1)):
        call(make, (1, 2, T, 3), block, k_blocks)


def edge_where_the_best_keys_are(make):
    """the best block is in the future, is the query's own, or has one leading key but a low mean

    最好的块在未来、就是自己那块，或块内有一个 key 遥遥领先但均值很低
    """
    levels = torch.tensor([[3.0, 1.0, 9.0, -9.5, 2.0, 2.2, 8.0, 7.0, -1.0, 0.3, 5.0, 6.0]], dtype=torch.float64)
    rows = torch.cat([levels, levels.flip(1), -levels])[None, :, :, None]
    q = make.keep(torch.tensor([1.0, 1.0, -1.0]).double()[None, :, None, None].expand(1, 3, 12, 1), grad=True)
    for block, k_blocks in ((2, 2), (2, 3), (3, 2), (4, 2)):
        make.call("topk_block_attention", q, make.keep(rows, grad=True), make.normal(1, 3, 12, 1), block, k_blocks)


def longer(make, T):
    """Blocks of 16, two a query: 32 keys, whatever T is."""
    call(make, (1, 1, T, 8), 16, 2)


def longer_with_heads(make, T):
    call(make, (1, 2, T, 4), 8, 3)


CONTRACTS = [
    {
        "check": check,
        "measure": measure,
        "real": {"size": 65_536, "en": "64k context", "zh": "64k 上下文"},
        "case": record,
        "sizes": (128, 256, 512),
        "growth_at_most": 1.0,
        "bound": bound,
        "says": {"en": f"the {en} is that of all T² scores", "zh": f"{zh}相当于算了全部 T² 个分数"},
    }
    # Scores of blocks are T²/16, or 2·T²/8; all of them T², or 2·T².
    for record, spare in ((longer, 1.0), (longer_with_heads, 4.0))
    for check, measure, bound, en, zh in (
        ("work", "flops", lambda T, spare=spare: 5000 * T + 4 * spare * T * T, "work", "计算量"),
        ("memory", "largest", lambda T, spare=spare: 320 * T + spare * T * T / 8, "largest tensor", "最大的张量"),
    )
]
