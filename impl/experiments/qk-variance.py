"""The dot product of a query and a key has variance d_k; without division by √d_k it saturates the softmax.

Queries and keys are drawn from N(0, 1), so each score is a sum of d independent products of mean 0 and variance 1:
its variance is d. The softmax sees 64 keys at a time. The trace of its Jacobian, Σ p(1 − p), measures
the gradient that passes back. Unscaled it vanishes as d grows, since one key takes all the weight; divided by
√d_k it does not change with d. Over seeds 0 … 199 variance/d was 0.89 … 1.13 (0.86 … 1.14 with --quick: 64 keys are
few), the trace at d = 1024 0.066 … 0.079 unscaled and 0.96 scaled.

Control: queries and keys have a mean of 1, so that each product has a variance of 3.

Vaswani et al. 2017, arXiv 1706.03762, §3.2.1, footnote 4.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

TITLE = {"en": "The variance of q·k is d_k", "zh": "q·k 的方差等于 d_k"}
CLAIM = {
    "en": "For independent queries and keys with zero mean and unit variance, scores have a variance of d_k; without 1/√d_k the softmax saturates and its gradient dies.",
    "zh": "q、k 各分量独立、均值 0、方差 1 时，点积的方差就是 d_k；不除以 √d_k，softmax 会饱和，梯度随之消失。",
}
CARDS = ("att-02", "att-03", "att-04", "att-23")
CAVEATS = (
    {
        "en": "Drawn queries and keys are independent; those of a trained model are not, and their scores can have any variance.",
        "zh": "这里的 q 和 k 是独立抽取的；训练好的模型并非如此，点积的方差可大可小。",
    },
)
SEEDS = 1
SECONDS = (2, 2)
WIDTHS = (16, 64, 256, 1024)
KEYS = 64


def run(seed: int, quick: bool, progress: Callable[[float], None], control: bool = False) -> dict:
    generator = torch.Generator().manual_seed(seed)
    queries = 1000 if quick else 4000
    rows = []
    for place, d in enumerate(WIDTHS):
        q = torch.randn(queries, d, generator=generator) + control  # (n, d), a mean of 1 in the control
        k = torch.randn(KEYS, d, generator=generator) + control  # (64, d)
        scores = q @ k.T  # (n, 64)
        raw, scaled = softmax_and_trace(scores), softmax_and_trace(scores / d**0.5)
        rows.append([d, scores.var().item(), scores.var().item() / d, *raw, *scaled])
        progress((place + 1) / len(WIDTHS))
    ratios = [row[2] for row in rows]
    unscaled, scaled = rows[-1][4], rows[-1][6]
    return {
        "columns": [
            {"en": "d_k", "zh": "d_k"},
            {"en": "variance", "zh": "方差"},
            {"en": "variance/d_k", "zh": "方差/d_k"},
            {"en": "max p, unscaled", "zh": "最大 p，未缩放"},
            {"en": "trace, unscaled", "zh": "迹，未缩放"},
            {"en": "max p, scaled", "zh": "最大 p，缩放"},
            {"en": "trace, scaled", "zh": "迹，缩放"},
        ],
        "rows": rows,
        "plots": [
            {
                "kind": "line",
                "title": {
                    "en": "Trace of the softmax Jacobian, Σ p(1 − p), over d_k",
                    "zh": "softmax 雅可比矩阵的迹 Σ p(1 − p) 随 d_k 的变化",
                },
                "x": list(WIDTHS),
                "series": [
                    {"name": {"en": "unscaled", "zh": "未缩放"}, "y": [row[4] for row in rows]},
                    {"name": {"en": "divided by √d_k", "zh": "除以 √d_k"}, "y": [row[6] for row in rows]},
                ],
                "log": "x",
            }
        ],
        "checks": [
            {
                "says": {"en": "variance/d_k at every d_k", "zh": "每个 d_k 下的 方差/d_k"},
                "holds": all(0.8 <= ratio <= 1.2 for ratio in ratios),
                "got": f"{min(ratios):.3f} … {max(ratios):.3f}",
                "due": "0.8 … 1.2",
            },
            {
                "says": {"en": "trace at d_k = 1024, unscaled", "zh": "d_k = 1024 时未缩放的迹"},
                "holds": unscaled < 0.15,
                "got": f"{unscaled:.3f}",
                "due": "< 0.15",
            },
            {
                "says": {"en": "trace at d_k = 1024, scaled", "zh": "d_k = 1024 时缩放后的迹"},
                "holds": scaled > 0.9,
                "got": f"{scaled:.3f}",
                "due": "> 0.9",
            },
        ],
        "seen": {
            "en": f"the variance was {min(ratios):.2f} to {max(ratios):.2f} times d_k, and at d_k = 1024 the gradient through the softmax was {unscaled:.2f} unscaled, {scaled:.2f} scaled.",
            "zh": f"方差是 d_k 的 {min(ratios):.2f} 到 {max(ratios):.2f} 倍；d_k = 1024 时，穿过 softmax 的梯度未缩放为 {unscaled:.2f}，缩放后为 {scaled:.2f}。",
        },
    }


def softmax_and_trace(scores: Tensor) -> tuple[float, float]:
    """Return the mean of the greatest probability, and of the trace of the softmax's Jacobian."""
    p = torch.softmax(scores, dim=-1)  # (n, 64)
    return p.amax(dim=-1).mean().item(), (p * (1 - p)).sum(dim=-1).mean().item()
