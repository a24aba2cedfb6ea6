"""Stacked attention makes all tokens alike, doubly exponentially fast. The residual slows the fall; the FFN alone does not.

32 random tokens of width 64 go through random layers of four heads. The measure is the distance to the nearest matrix
whose rows are all the same, ‖X − mean‖/‖X‖: 1 is as different as tokens can be, 0 is all alike. Every branch reads its
input normalised by its RMS (pre-LN), so that scale plays no part; the first variant divides the whole matrix by its
RMS instead. Without a residual the curves fall ever faster, with or without an FFN. With a residual
they fall too, ever more slowly. In float64, since in float32 rounding ends the fall at 1e-7. Over seeds 0 … 299,
after layer 5: attention alone at most 1e-8, attention + FFN 5e-16, which is rounding. With the residual, over seeds
0 … 59: 0.48 … 0.72 after layer 8; after layer 128 0.08 … 0.13 without FFN, 0.16 … 0.28 with it.
Control: the variants with a residual run without it, and the others with it.

Dong et al. 2021, arXiv 2103.03404; Noci et al. 2022, arXiv 2206.03126.
"""

from __future__ import annotations

import torch

TITLE = {"en": "Rank collapse, and what slows it", "zh": "秩坍缩，以及什么能减慢它"}
CLAIM = {
    "en": "At initialisation a stack of attention layers makes all tokens alike within a few layers; the residual slows this to a gradual decline, the FFN alone does not.",
    "zh": "初始化时，堆叠的注意力几层之内就让所有 token 变得一样；残差把这一过程减慢为缓慢下降，单靠 FFN 不行。",
}
CARDS = ("att-17", "att-18", "ffn-01", "norm-13", "norm-14", "norm-17")
CAVEATS = (
    {
        "en": "This is initialisation; trained attention can be sharp, and a sharp pattern averages little.",
        "zh": "这里说的是初始化；训练后的注意力可以很尖锐，而尖锐的模式几乎不做平均。",
    },
    {
        "en": "The residual does not stop the fall: without FFN about 0.64 after 8 layers, 0.23 after 32, 0.10 after 128. Shrinking the branches with depth keeps more.",
        "zh": "残差并不能止住下降：没有 FFN 时，8 层后约 0.64，32 层后约 0.23，128 层后约 0.10。让分支随深度缩小，能保住更多。",
    },
)
SEEDS = 1
SECONDS = (3, 3)
TOKENS, WIDTH, HEADS = 32, 64, 4
FEW, MANY = 8, 128  # layers without and with a residual
SHOWN = (*range(FEW + 1), 16, 32, 64, MANY)
ROUNDING = 1e-16  # of float64: below it the distance is rounding
VARIANTS = (
    ("attention, rescaled", "注意力，仅缩放", False, False, False),
    ("attention", "注意力", True, False, False),
    ("attention + FFN", "注意力 + FFN", True, True, False),
    ("attention + residual", "注意力 + 残差", True, False, True),
    ("attention + FFN + residual", "注意力 + FFN + 残差", True, True, True),
)  # English, Chinese, pre-LN, FFN, residual


def run(seed, quick, progress, control=False):
    curves = []
    for place, (_, _, norm, ffn, residual) in enumerate(VARIANTS):
        curves.append(distances(seed, norm, ffn, residual != control, MANY if residual else FEW))
        progress((place + 1) / len(VARIANTS))
    names = [{"en": en, "zh": zh} for en, zh, *_ in VARIANTS]
    alone, with_ffn = max(curves[0][5], curves[1][5]), curves[2][5]
    kept = min(curves[3][FEW], curves[4][FEW])
    low, high = sorted((curves[3][MANY], curves[4][MANY]))
    return {
        "columns": [{"en": "layer", "zh": "层"}, *names],
        "rows": [[layer, *(curve[layer] if layer < len(curve) else "" for curve in curves)] for layer in SHOWN],
        "plots": [
            plot("Distance to “all tokens alike”, by layer", "与“所有 token 相同”的距离，逐层", 0, FEW, names, curves),
            plot("With the residual, to layer 128", "有残差，直到第 128 层", 1, MANY, names[3:], curves[3:]),
        ],
        "checks": [
            check("attention alone, after layer 5", "只有注意力，第 5 层之后", f"{alone:.2g}", "< 0.01", alone < 0.01),
            check(
                "attention + FFN, after layer 5",
                "注意力 + FFN，第 5 层之后",
                f"{with_ffn:.2g}",
                "< 0.01",
                with_ffn < 0.01,
            ),
            check("with the residual, after layer 8", "有残差，第 8 层之后", f"{kept:.2g}", "> 0.3", kept > 0.3),
            check(
                "with the residual, after layer 128",
                "有残差，第 128 层之后",
                f"{low:.2g} … {high:.2g}",
                "0.03 … 0.4",
                low > 0.03 and high < 0.4,
            ),
        ],
        "seen": {
            "en": f"after five layers the tokens differed by {alone:.0e} of their norm with attention alone and by {with_ffn:.0e} with an FFN; with the residual and no FFN by {curves[3][8]:.2f} after 8 layers, {curves[3][32]:.2f} after 32 and {curves[3][MANY]:.2f} after 128.",
            "zh": f"五层之后，只有注意力时 token 的差异只剩范数的 {alone:.0e}，加上 FFN 为 {with_ffn:.0e}；有残差、没有 FFN 时，8 层后为 {curves[3][8]:.2f}，32 层后 {curves[3][32]:.2f}，128 层后 {curves[3][MANY]:.2f}。",
        },
    }


def plot(en, zh, first, last, names, curves):
    return {
        "kind": "line",
        "title": {"en": en, "zh": zh},
        "x": list(range(first, last + 1)),
        "series": [
            {"name": name, "y": [max(one, ROUNDING) for one in curve[first : last + 1]]}
            for name, curve in zip(names, curves, strict=True)
        ],
        "log": "xy" if first else "y",
    }


def check(en, zh, got, due, holds):
    return {"says": {"en": en, "zh": zh}, "holds": holds, "got": got, "due": due}


def distances(seed, norm, ffn, residual, layers):
    """Return the distances before the first layer and after each. All variants of a seed share tokens and weights."""
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64) / shape[0] ** 0.5  # noqa: E731
    x = torch.randn(TOKENS, WIDTH, generator=generator, dtype=torch.float64)  # (n, d)
    found = [distance(x)]
    for _ in range(layers):
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
    """Return ‖X − mean‖/‖X‖, with the mean over the tokens."""
    return ((x - x.mean(dim=0)).norm() / x.norm()).item()
