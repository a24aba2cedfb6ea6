"""Stacked attention makes all tokens alike, doubly exponentially fast; the residual keeps them apart, the FFN does not.

32 random tokens of width 64 go through random layers of four heads. The measure is the distance to the nearest matrix
whose rows are all the same, ‖X − mean‖/‖X‖: 1 is as different as tokens can be, 0 is all alike. Every branch reads its
input normalised by its RMS (pre-LN), so that scale plays no part; the first variant divides the whole matrix by its
RMS instead. What to look at: the curves without a residual fall ever faster, whether there is an FFN or not, while
those with a residual stay up. In float64, since in float32 rounding ends the fall at 1e-7. Over seeds 0 … 299, after
layer 5: attention alone at most 1e-8, attention + FFN 5e-16, which is rounding; after layer 8 with the residual 0.44 …
0.72. (In float32 layer 4 is a little early: one draw of 100 was still at 0.05.)

Dong et al. 2021, arXiv 2103.03404; Noci et al. 2022, arXiv 2206.03126.
"""

from __future__ import annotations

import torch

TITLE = {"en": "Rank collapse, and what prevents it", "zh": "秩坍缩，以及是什么阻止了它"}
CLAIM = {
    "en": "At initialisation a stack of attention layers makes all tokens alike within a few layers; the residual prevents it, the FFN alone does not.",
    "zh": "初始化时，堆叠的注意力几层之内就让所有 token 变得一样；阻止这一点的是残差，单靠 FFN 不行。",
}
CARDS = ("att-17", "att-18", "ffn-01", "norm-13", "norm-14", "norm-17")
CAVEATS = (
    {
        "en": "This is initialisation; trained attention can be sharp, and a sharp pattern averages little.",
        "zh": "这里说的是初始化；训练后的注意力可以很尖锐，而尖锐的模式几乎不做平均。",
    },
    {
        "en": "Eight layers; with hundreds the residual alone is not enough, the branches must shrink with depth as well.",
        "zh": "这里只有 8 层；上百层时光有残差不够，分支还要随深度缩小。",
    },
)
SEEDS = 1
SECONDS = (2, 2)
TOKENS, WIDTH, HEADS, LAYERS = 32, 64, 4, 8
ROUNDING = 1e-16  # of float64: below it the distance is none
VARIANTS = (
    ("attention, rescaled", "注意力，仅缩放", False, False, False),
    ("attention", "注意力", True, False, False),
    ("attention + FFN", "注意力 + FFN", True, True, False),
    ("attention + residual", "注意力 + 残差", True, False, True),
    ("attention + FFN + residual", "注意力 + FFN + 残差", True, True, True),
)  # English, Chinese, pre-LN, FFN, residual


def run(seed, quick, progress):
    curves = []
    for place, (_, _, norm, ffn, residual) in enumerate(VARIANTS):
        curves.append(distances(seed, norm, ffn, residual))
        progress((place + 1) / len(VARIANTS))
    names = [{"en": en, "zh": zh} for en, zh, *_ in VARIANTS]
    alone, with_ffn = max(curves[0][5], curves[1][5]), curves[2][5]
    kept = min(curves[3][LAYERS], curves[4][LAYERS])
    return {
        "columns": [{"en": "layer", "zh": "层"}, *names],
        "rows": [[layer, *(curve[layer] for curve in curves)] for layer in range(LAYERS + 1)],
        "plots": [
            {
                "kind": "line",
                "title": {
                    "en": "Relative distance to “all tokens alike”, by layer",
                    "zh": "与“所有 token 相同”的相对距离，逐层",
                },
                "x": list(range(LAYERS + 1)),
                "series": [
                    {"name": name, "y": [max(one, ROUNDING) for one in curve]}
                    for name, curve in zip(names, curves, strict=True)
                ],
                "log": "y",
            }
        ],
        "checks": [
            check("attention alone, after layer 5", "只有注意力，第 5 层之后", alone, "< 0.01", alone < 0.01),
            check("attention + FFN, after layer 5", "注意力 + FFN，第 5 层之后", with_ffn, "< 0.01", with_ffn < 0.01),
            check("with the residual, after layer 8", "有残差，第 8 层之后", kept, "> 0.3", kept > 0.3),
        ],
        "seen": {
            "en": f"after five layers the tokens differed by {alone:.0e} of their norm with attention alone and {with_ffn:.0e} with an FFN; with the residual still by {kept:.2f} after eight.",
            "zh": f"五层之后，只有注意力时 token 的差异只剩范数的 {alone:.0e}，加上 FFN 为 {with_ffn:.0e}；有残差时八层之后仍有 {kept:.2f}。",
        },
    }


def check(en, zh, got, due, holds):
    return {"says": {"en": en, "zh": zh}, "holds": holds, "got": f"{got:.2g}", "due": due}


def distances(seed, norm, ffn, residual):
    """The distance before the first layer and after each. The same seed: every variant has the same tokens and weights."""
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64) / shape[0] ** 0.5  # noqa: E731
    x = torch.randn(TOKENS, WIDTH, generator=generator, dtype=torch.float64)  # (n, d)
    found = [distance(x)]
    for _ in range(LAYERS):
        wq, wk, wv, wo = (draw(WIDTH, WIDTH) for _ in range(4))
        w1, w2 = draw(WIDTH, 4 * WIDTH), draw(4 * WIDTH, WIDTH)
        y = x / rms(x, dim=-1) if norm else x / rms(x, dim=(0, 1))
        q, k, v = ((y @ w).view(TOKENS, HEADS, -1).transpose(0, 1) for w in (wq, wk, wv))  # (h, n, d_k)
        pattern = torch.softmax(q @ k.transpose(1, 2) / (WIDTH // HEADS) ** 0.5, dim=-1)  # (h, n, n)
        x = residual * x + (pattern @ v).transpose(0, 1).reshape(TOKENS, WIDTH) @ wo  # (n, d)
        if ffn:
            x = residual * x + torch.relu(x / rms(x, dim=-1) @ w1) @ w2  # (n, d)
        found.append(distance(x))
    return found


def rms(x, dim):
    return x.square().mean(dim=dim, keepdim=True).sqrt()


def distance(x):
    """‖X − mean‖/‖X‖, the mean being that over the tokens."""
    return ((x - x.mean(dim=0)).norm() / x.norm()).item()
