"""Adam's step does not depend on the gradient's scale; without bias correction its first steps are too large.

Ten steps at lr = 0.01 with constant gradients of 1e-3, 1 and 1e3: each moves 0.1 (eps = 1e-8 takes 1e-6 of it at a
gradient of 1e-3, hence the tolerance of 2e-6). Then gradients of pure noise, of the same three sizes, 256 weights each:
the mean step is about 0.18 lr, again at any size; noise makes steps small. Last the ratio m/√v without correction, for
a constant gradient and β = (0.9, 0.999): 3.16 at step 1, 6.57 at step 12. Only the noise is drawn: 0.174 … 0.196 over
seeds 0 … 39.

Control: SGD instead of Adam.

Kingma and Ba 2015, arXiv 1412.6980, §2.1 and §3.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

TITLE = {"en": "Adam's steps: any scale alike, and the first ones", "zh": "Adam 的步长：与梯度尺度无关，以及最初几步"}
CLAIM = {
    "en": "An Adam step does not depend on the scale of the gradients; without bias correction the first steps are up to 6.6 times too large.",
    "zh": "Adam 的步长与梯度的尺度无关；没有偏差修正时，最初几步最大会达到应有的 6.6 倍。",
}
CARDS = ("opt-01", "opt-03", "opt-04")
CAVEATS = (
    {
        "en": "6.57 belongs to β = (0.9, 0.999); with (0.9, 0.95), usual for language models, the ratio starts at 0.45 and ends near 1.",
        "zh": "6.57 对应 β = (0.9, 0.999)；大模型常用的 (0.9, 0.95) 从 0.45 开始，最后接近 1。",
    },
)
SEEDS = 1
SECONDS = (2, 3)
SCALES = (1e-3, 1.0, 1e3)
RATE, STEPS, BETAS = 0.01, 10, (0.9, 0.999)
COPIES, SHOWN = 256, 100


def both(en: str, zh: str) -> dict:
    return {"en": en, "zh": zh}


def check(says: dict, holds: bool, got: str, due: str) -> dict:
    return {"says": says, "holds": holds, "got": got, "due": due}


def moved(gradient: Callable[[], Tensor], steps: int, control: bool) -> list[Tensor]:
    """Return the weights (3, n) before and after each step of Adam, or of SGD in the control."""
    weight = torch.zeros_like(gradient()).requires_grad_()
    optimiser = torch.optim.SGD([weight], lr=RATE) if control else torch.optim.Adam([weight], lr=RATE, betas=BETAS)
    places = [weight.detach().clone()]
    for _ in range(steps):
        weight.grad = gradient()
        optimiser.step()
        places.append(weight.detach().clone())
    return places


def uncorrected(steps: int) -> list[float]:
    """Return m/√v for a constant gradient of 1, at steps 1, 2, 3 …"""
    m = v = 0.0
    ratios = []
    for _ in range(steps):
        m = BETAS[0] * m + (1 - BETAS[0])
        v = BETAS[1] * v + (1 - BETAS[1])
        ratios.append(m / v**0.5)
    return ratios


def run(seed: int, quick: bool, progress: Callable[[float], None], control: bool = False) -> dict:
    generator = torch.Generator().manual_seed(seed)
    scales = torch.tensor(SCALES, dtype=torch.float64)[:, None]  # (3, 1)
    constant = moved(lambda: scales, STEPS, control)
    displacement = (constant[-1] - constant[0])[:, 0].tolist()
    progress(0.3)

    warm = 300 if quick else 1000
    noise_of = lambda: torch.randn(3, COPIES, generator=generator, dtype=torch.float64) * scales  # noqa: E731
    noisy = moved(noise_of, warm + 50, control)
    sizes = [(noisy[step + 1] - noisy[step]).abs().mean(dim=1) / RATE for step in range(warm, warm + 50)]  # (3,) each
    noise = torch.stack(sizes).mean(dim=0).tolist()
    progress(0.9)

    ratios = uncorrected(SHOWN)
    stray = max(abs(one + STEPS * RATE) for one in displacement)
    peak = max(ratios)
    span = " … ".join(dict.fromkeys(f"{-one:.3f}" for one in sorted(displacement, reverse=True)))
    return {
        "columns": [
            both("gradient", "梯度"),
            both("moved in 10 steps", "10 步的位移"),
            both("mean step in noise, in lr", "纯噪声下的平均步长（以 lr 计）"),
        ],
        "rows": [list(row) for row in zip(SCALES, displacement, noise, strict=True)],
        "plots": [
            {
                "kind": "line",
                "title": both("Step over lr, constant gradient", "步长与 lr 之比，梯度恒定"),
                "x": list(range(1, SHOWN + 1)),
                "series": [
                    {"name": both("without bias correction", "无偏差修正"), "y": ratios},
                    {"name": both("Adam", "Adam"), "y": [1.0] * SHOWN},
                ],
                "log": "",
            }
        ],
        "checks": [
            check(
                both("distance of each displacement from −10·lr", "各位移与 −10·lr 的差距"),
                stray < 2e-6,
                f"{stray:.1e}",
                "< 2e-6",
            ),
            check(
                both("mean step in noise, every scale", "纯噪声下各尺度的平均步长"),
                all(0.15 < one < 0.21 for one in noise),
                f"{min(noise):.3f} … {max(noise):.3f}",
                "0.15 … 0.21",
            ),
            check(
                both("uncorrected first step over lr", "未修正的第一步与 lr 之比"),
                abs(ratios[0] - 10**0.5) < 1e-3,
                f"{ratios[0]:.3f}",
                "3.162",
            ),
            check(both("its peak", "其峰值"), 6.5 <= peak <= 6.6, f"{peak:.2f}", "6.5 … 6.6"),
        ],
        "seen": both(
            f"gradients of 1e-3, 1 and 1e3 moved {span} in ten steps; uncorrected, the first step was {ratios[0]:.2f} lr and step {ratios.index(peak) + 1} the largest, {peak:.2f} lr.",
            f"1e-3、1 和 1e3 的梯度在十步内移动了 {span}；不修正时第一步为 {ratios[0]:.2f} lr，第 {ratios.index(peak) + 1} 步最大，为 {peak:.2f} lr。",
        ),
    }
