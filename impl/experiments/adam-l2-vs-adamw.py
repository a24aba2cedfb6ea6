"""Under Adam with L2, weights with small gradients decay fastest; AdamW decays all weights at the same rate.

Two kinds of weights start at 1 and get gradients of pure noise, one of size 10, one of size 0.01: 64 copies of each,
2000 steps, λ = 0.1, lr = 1e-3. L2 adds λθ to the gradient, which Adam then divides by √v: the noisy weight hardly
decays, the quiet one is pulled to 0. AdamW multiplies each by (1 − lr·λ), whatever its gradients. Compare the mean of
the copies with (1 − lr·λ)^2000 = 0.819. Over seeds 0 … 39 Adam with L2 ended at 0.96 … 0.99 and 0.022 … 0.024, AdamW
within 0.015 of 0.819. (A single copy varies by 0.04.)

Control: the two optimisers are swapped.

Loshchilov and Hutter 2019, arXiv 1711.05101.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

TITLE = {"en": "Adam with L2 is not AdamW", "zh": "Adam 加 L2 不等于 AdamW"}
CLAIM = {
    "en": "Decoupled weight decay shrinks all weights alike; L2 inside Adam spares weights with large gradients and pulls those with small ones to 0.",
    "zh": "解耦的权重衰减对所有权重一视同仁；Adam 里的 L2 放过梯度大的权重，把梯度小的拉向 0。",
}
CARDS = ("opt-06", "opt-07")
CAVEATS = (
    {
        "en": "Pure noise, no loss: it shows the decay alone, not which optimiser trains better.",
        "zh": "只有噪声，没有损失：只展示衰减本身，不说明哪个优化器训练得更好。",
    },
)
SEEDS = 1
SECONDS = (3, 3)
COPIES, STEPS = 64, 2000
DECAY, RATE = 0.1, 1e-3
NOISE = torch.tensor([[10.0], [0.01]])  # (2, 1)
EVERY = 50


def both(en: str, zh: str) -> dict:
    return {"en": en, "zh": zh}


def decayed(optimiser: type[torch.optim.Optimizer], seed: int, progress: Callable[[float], None]) -> list[list[float]]:
    """Return two lists: the mean weight of each kind after 0, 50, 100 … steps."""
    generator = torch.Generator().manual_seed(seed)  # both optimisers get the same noise
    weight = torch.ones(2, COPIES, requires_grad=True)  # (2, copies)
    steps = optimiser([weight], lr=RATE, weight_decay=DECAY)
    means = [weight.detach().mean(dim=1)]  # (2,)
    for step in range(1, STEPS + 1):
        weight.grad = torch.randn(2, COPIES, generator=generator) * NOISE  # (2, copies)
        steps.step()
        if step % EVERY == 0:
            means.append(weight.detach().mean(dim=1))
            progress(step / STEPS)
    return torch.stack(means, dim=1).tolist()


def run(seed: int, quick: bool, progress: Callable[[float], None], control: bool = False) -> dict:
    optimisers = (torch.optim.Adam, torch.optim.AdamW)[:: -1 if control else 1]
    l2 = decayed(optimisers[0], seed, lambda share: progress(share / 2))
    adamw = decayed(optimisers[1], seed, lambda share: progress(0.5 + share / 2))
    due = (1 - RATE * DECAY) ** STEPS
    ends = {"noisy_l2": l2[0][-1], "quiet_l2": l2[1][-1], "noisy": adamw[0][-1], "quiet": adamw[1][-1]}
    stray = max(abs(ends["noisy"] - due), abs(ends["quiet"] - due))
    noisy, quiet = both("gradients of size 10", "梯度大小 10"), both("gradients of size 0.01", "梯度大小 0.01")
    return {
        "columns": [both("optimiser", "优化器"), noisy, quiet, both("(1 − lr·λ)^2000", "(1 − lr·λ)^2000")],
        "rows": [["Adam + L2", ends["noisy_l2"], ends["quiet_l2"], due], ["AdamW", ends["noisy"], ends["quiet"], due]],
        "plots": [
            {
                "kind": "line",
                "title": both("Mean weight over the steps", "权重均值随步数的变化"),
                "x": list(range(0, STEPS + 1, EVERY)),
                "series": [
                    {"name": both("Adam + L2, size 10", "Adam + L2，大小 10"), "y": l2[0]},
                    {"name": both("Adam + L2, size 0.01", "Adam + L2，大小 0.01"), "y": l2[1]},
                    {"name": both("AdamW, size 10", "AdamW，大小 10"), "y": adamw[0]},
                    {"name": both("AdamW, size 0.01", "AdamW，大小 0.01"), "y": adamw[1]},
                ],
                "log": "",
            }
        ],
        "checks": [
            {
                "says": both("Adam + L2, weight with large gradients", "Adam + L2，梯度大的权重"),
                "holds": ends["noisy_l2"] > 0.9,
                "got": f"{ends['noisy_l2']:.3f}",
                "due": "> 0.9",
            },
            {
                "says": both("Adam + L2, weight with small gradients", "Adam + L2，梯度小的权重"),
                "holds": ends["quiet_l2"] < 0.09,
                "got": f"{ends['quiet_l2']:.3f}",
                "due": "< 0.09",
            },
            {
                "says": both("AdamW, distance of both from (1 − lr·λ)^2000", "AdamW，两者与 (1 − lr·λ)^2000 的差距"),
                "holds": stray < 0.1,
                "got": f"{stray:.3f}",
                "due": "< 0.1",
            },
        ],
        "seen": both(
            f"after 2000 steps Adam with L2 had left {ends['noisy_l2']:.2f} of the noisy and {ends['quiet_l2']:.2f} of the quiet weight, AdamW {ends['noisy']:.2f} and {ends['quiet']:.2f}.",
            f"2000 步后，Adam 加 L2 使梯度大的权重剩 {ends['noisy_l2']:.2f}、梯度小的剩 {ends['quiet_l2']:.2f}；AdamW 分别剩 {ends['noisy']:.2f} 和 {ends['quiet']:.2f}。",
        ),
    }
