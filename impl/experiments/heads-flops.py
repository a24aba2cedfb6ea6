"""At a fixed model width the number of heads does not change the FLOPs of any matrix product, to the last digit.

One attention layer of width d over n tokens, counted by PyTorch's FlopCounterMode, which records every matrix product
that is run. The projections cost 8nd², however their result is split; QKᵀ costs 2n²·d_k in each of h heads, and h·d_k =
d. The three bars are equal. The table's last column does grow with h: the softmax processes hn² scores, but these are
no matrix products, so the counter does not see them. Only the inputs are random, and the counts do not depend on them:
every seed gives the same integers.

Control: every head is as wide as the model, instead of sharing its width.

Vaswani et al. 2017, arXiv 1706.03762, §3.2.2.
"""

from __future__ import annotations

import torch
from torch.utils.flop_counter import FlopCounterMode

TITLE = {"en": "Heads do not change the FLOPs", "zh": "头数不改变 FLOPs"}
CLAIM = {
    "en": "At fixed d_model, splitting attention into more heads leaves the FLOPs of its matrix products exactly the same.",
    "zh": "d_model 固定时，把注意力拆成更多头，矩阵乘法的 FLOPs 完全不变。",
}
CARDS = ("att-19", "head-02")
CAVEATS = (
    {
        "en": "The same FLOPs are not the same time: many narrow heads mean more softmax work and smaller, slower products.",
        "zh": "FLOPs 相同不等于耗时相同：头多而窄，softmax 的工作量更大，矩阵乘也更小更慢。",
    },
)
SEEDS = 1
SECONDS = (2, 2)
WIDTH = 256
TOKENS = 128


def run(seed, quick, progress, control=False):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(TOKENS, WIDTH, generator=generator)  # (n, d)
    many = (1, 8, 32) if quick else (1, 2, 4, 8, 16, 32, 64, 128)
    rows = []
    for place, heads in enumerate(many):
        d_k = WIDTH if control else WIDTH // heads
        parts = flops(x, heads, d_k, generator)
        rows.append([heads, d_k, *parts, sum(parts), heads * TOKENS**2])
        progress((place + 1) / len(many))
    totals = {row[5] for row in rows}
    told = " or ".join(f"{total:,}" for total in sorted(totals))
    due = 8 * TOKENS * WIDTH**2 + 4 * TOKENS**2 * WIDTH
    library = library_flops(x)
    return {
        "columns": [
            {"en": "heads h", "zh": "头数 h"},
            {"en": "d_k", "zh": "d_k"},
            {"en": "projections", "zh": "投影"},
            {"en": "QKᵀ", "zh": "QKᵀ"},
            {"en": "A·V", "zh": "A·V"},
            {"en": "FLOPs in all", "zh": "FLOPs 合计"},
            {"en": "scores hn²", "zh": "分数个数 hn²"},
        ],
        "rows": rows,
        "plots": [
            {
                "kind": "bar",
                "title": {"en": "Millions of FLOPs over the number of heads", "zh": "FLOPs（百万）随头数的变化"},
                "x": [row[0] for row in rows],
                "series": [
                    {"name": {"en": "projections", "zh": "投影"}, "y": [row[2] / 1e6 for row in rows]},
                    {"name": {"en": "QKᵀ and A·V", "zh": "QKᵀ 与 A·V"}, "y": [(row[3] + row[4]) / 1e6 for row in rows]},
                ],
            }
        ],
        "checks": [
            {
                "says": {"en": "FLOPs with every number of heads", "zh": "各种头数下的 FLOPs"},
                "holds": totals == {due},
                "got": told,
                "due": f"8nd² + 4n²d = {due:,}",
            },
            {
                "says": {"en": "nn.MultiheadAttention, the same heads", "zh": "nn.MultiheadAttention，同样的头数"},
                "holds": library == {due},
                "got": ", ".join(f"{total:,}" for total in sorted(library)),
                "due": f"{due:,}",
            },
        ],
        "seen": {
            "en": f"from {rows[0][0]} to {rows[-1][0]} heads the layer took {told} FLOPs, {rows[0][3] + rows[0][4]:,} of them in QKᵀ and A·V, while the scores grew {rows[-1][0]} times.",
            "zh": f"从 {rows[0][0]} 个头到 {rows[-1][0]} 个头，这一层是 {told.replace(' or ', ' 或 ')} FLOPs，其中 QKᵀ 和 A·V 占 {rows[0][3] + rows[0][4]:,}；分数的个数则增加到 {rows[-1][0]} 倍。",
        },
    }


def flops(x, heads, d_k, generator):
    """Return the FLOPs of the projections, of QKᵀ and of A·V, counted during the run."""
    draw = lambda *shape: torch.randn(*shape, generator=generator)  # noqa: E731
    wq, wk, wv, wo = *(draw(WIDTH, heads * d_k) for _ in range(3)), draw(heads * d_k, WIDTH)  # (d, d) if heads share d
    with FlopCounterMode(display=False) as around:
        q, k, v = ((x @ w).view(TOKENS, heads, d_k).transpose(0, 1) for w in (wq, wk, wv))  # (h, n, d_k)
    with FlopCounterMode(display=False) as scoring:
        scores = q @ k.transpose(1, 2) / d_k**0.5  # (h, n, n)
    with FlopCounterMode(display=False) as mixing:
        mixed = torch.softmax(scores, dim=-1) @ v  # (h, n, d_k)
    with FlopCounterMode(display=False) as last:
        mixed.transpose(0, 1).reshape(TOKENS, -1) @ wo  # (n, d)
    return around.get_total_flops() + last.get_total_flops(), scoring.get_total_flops(), mixing.get_total_flops()


def library_flops(x):
    """Return the FLOPs of PyTorch's own layer with 1, 8 and 32 heads."""
    found = set()
    for heads in (1, 8, 32):
        layer = torch.nn.MultiheadAttention(WIDTH, heads, bias=False)
        with FlopCounterMode(display=False) as counter:
            layer(x, x, x)
        found.add(counter.get_total_flops())
    return found
