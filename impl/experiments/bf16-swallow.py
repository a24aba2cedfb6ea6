"""An update much smaller than its weight vanishes in bfloat16; a float32 master or stochastic rounding preserves it.

A weight of 1 gets 0.001 a thousand times. Between 1 and 2 bfloat16 numbers lie 2⁻⁷ apart, and half of that is 0.0039:
rounding to nearest discards every single update. A float32 master copy keeps the sum, and only its copy is rounded.
Stochastic rounding goes up with a probability of 0.001/2⁻⁷ = 0.128: each of the 64 weights varies, and is right on
average. The 64 spread by 0.08. Over seeds 0 … 39 their mean was 1.976 … 2.025.

Control: the weight that is rounded to nearest is kept in float32.

Micikevicius et al. 2018, arXiv 1710.03740, §3.1; Gupta et al. 2015, arXiv 1502.02551, §3.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import torch

TITLE = {"en": "Small updates vanish in bfloat16", "zh": "小更新在 bfloat16 中消失"}
CLAIM = {
    "en": "1 + 1000 × 0.001 stays 1 in bfloat16; a float32 master copy gives 2, stochastic rounding gives 2 on average.",
    "zh": "在 bfloat16 中，1 + 1000 × 0.001 仍为 1；用 float32 主权重得 2，用随机舍入平均得 2。",
}
CARDS = ("prec-04", "prec-05", "prec-06")
CAVEATS = (
    {
        "en": "Equal updates of one sign; how much is lost in training depends on the ratio of updates to weights.",
        "zh": "每次更新相等且同号；训练中损失多少取决于更新与权重的比例。",
    },
)
SEEDS = 1
SECONDS = (2, 2)
STEPS, UPDATE, COPIES, EVERY = 1000, 1e-3, 64, 20


def both(en: str, zh: str) -> dict:
    return {"en": en, "zh": zh}


def run(
    seed: int,
    quick: bool,
    progress: Callable[[float], None],
    reference: Callable[[str], ModuleType],
    control: bool = False,
) -> dict:
    rounded = reference("precision/stochastic-rounding").stochastic_round_bf16
    generator = torch.Generator().manual_seed(seed)
    nearest = torch.ones((), dtype=torch.float32 if control else torch.bfloat16)
    master = torch.ones(())  # float32; the weight of the model is its bfloat16 copy
    stochastic = torch.ones(COPIES)  # (64,), float32 that holds bfloat16 values
    paths = [[1.0], [1.0], [1.0]]
    for step in range(1, STEPS + 1):
        nearest = nearest + UPDATE
        master = master + UPDATE
        stochastic = rounded(stochastic + UPDATE, generator)
        if step % EVERY == 0:
            for path, value in zip(paths, (nearest, master.bfloat16(), stochastic.mean()), strict=True):
                path.append(value.item())
            progress(step / STEPS)

    mean, spread = stochastic.mean().item(), stochastic.std().item()
    names = [
        both("bfloat16, to nearest", "bfloat16，就近舍入"),
        both("float32 master copy", "float32 主权重"),
        both("stochastic rounding, mean of 64", "随机舍入，64 份的平均"),
    ]
    return {
        "columns": [
            both("how it is added", "累加方式"),
            both("1 + 1000 × 0.001", "1 + 1000 × 0.001"),
            both("standard deviation", "标准差"),
        ],
        "rows": [[names[0], nearest.item(), 0.0], [names[1], master.item(), 0.0], [names[2], mean, spread]],
        "plots": [
            {
                "kind": "line",
                "title": both("The weight over the updates", "权重随更新次数的变化"),
                "x": list(range(0, STEPS + 1, EVERY)),
                "series": [{"name": name, "y": path} for name, path in zip(names, paths, strict=True)],
                "log": "",
            }
        ],
        "checks": [
            {"says": names[0], "holds": nearest.item() == 1.0, "got": f"{nearest.item():g}", "due": "1"},
            {
                "says": names[1],
                "holds": abs(master.item() - 2) < 1e-3,
                "got": f"{master.item():.4f}",
                "due": "2 ± 0.001",
            },
            {"says": names[2], "holds": 1.9 <= mean <= 2.1, "got": f"{mean:.3f}", "due": "1.9 … 2.1"},
        ],
        "seen": both(
            f"a thousand updates of 0.001 left a bfloat16 1 at {nearest.item():g}; the float32 master reached {master.item():.3f}, stochastic rounding {mean:.2f} ± {spread:.2f}.",
            f"对 bfloat16 的 1 做一千次 0.001 的更新，结果仍是 {nearest.item():g}；float32 主权重到达 {master.item():.3f}，随机舍入到达 {mean:.2f} ± {spread:.2f}。",
        ),
    }
