"""LoRA of rank r learns any change of rank ≤ r exactly; of a greater rank it leaves the residual given by Eckart–Young.

The target is a change ΔW (64 x 64) of rank 4 with four equal singular values of 3; LoRA's product A·B of rank r is
trained to imitate it on 1024 Gaussian inputs. The best approximation of rank r keeps the r greatest singular values
(Eckart–Young), so ‖A·B − ΔW‖²/64 falls to 9·(4 − r)/64, and no training gets below. The measured
curve lies on that line until r = 4 and drops to 0 there. Over seeds 0 … 9, r < 4 came within 2e-5 of the least
possible, relatively, and from r = 4 on at most 4e-7 was left.

Control: ΔW has full rank.

Hu et al. 2021, arXiv 2106.09685; Eckart & Young 1936, Psychometrika 1.
"""

from __future__ import annotations

import torch

TITLE = {"en": "What LoRA of rank r can reach", "zh": "秩为 r 的 LoRA 能达到什么"}
CLAIM = {
    "en": "LoRA fits every ΔW of rank at most r; for a greater rank the error stops at the discarded singular values.",
    "zh": "秩不超过 r 的 ΔW，LoRA 都能拟合；秩更大时，误差停在被舍弃的奇异值上。",
}
CARDS = ("peft-01", "peft-06")
CAVEATS = (
    {
        "en": "ΔW is known here and made of rank 4; what rank a real task needs is an empirical question.",
        "zh": "这里的 ΔW 已知且秩为 4；真实任务需要多大的秩，只能靠实验回答。",
    },
)
SEEDS = 3
SECONDS = (4, 9)
WIDTH, RANK, STRENGTH, INPUTS = 64, 4, 3.0, 1024


def run(seed, quick, progress, control=False):
    generator = torch.Generator().manual_seed(seed)
    rank = WIDTH if control else RANK
    left, _ = torch.linalg.qr(torch.randn(WIDTH, rank, generator=generator))  # (d, 4), orthonormal columns
    right, _ = torch.linalg.qr(torch.randn(WIDTH, rank, generator=generator))  # (d, 4)
    change = STRENGTH * left @ right.T  # (d, d), singular values 3, 3, 3, 3
    x = torch.randn(INPUTS, WIDTH, generator=generator)  # (n, d)
    ranks = (1, 2, 4, 8) if quick else (1, 2, 3, 4, 5, 8)
    rows = []
    for place, r in enumerate(ranks):
        theory = STRENGTH**2 * max(0, RANK - r) / WIDTH
        rows.append([r, 2 * WIDTH * r, error_after_training(x, change, r, generator), theory])
        progress((place + 1) / len(ranks))
    off = max(abs(got / theory - 1) for _, _, got, theory in rows if theory)
    enough = max(got for _, _, got, theory in rows if not theory)
    return {
        "columns": [
            {"en": "rank r", "zh": "秩 r"},
            {"en": "parameters", "zh": "参数量"},
            {"en": "error after training", "zh": "训练后的误差"},
            {"en": "Eckart–Young", "zh": "Eckart–Young"},
        ],
        "rows": rows,
        "plots": [
            {
                "kind": "line",
                "title": {"en": "What is left of ΔW over LoRA's rank", "zh": "ΔW 中未学到的部分随 LoRA 的秩的变化"},
                "x": [row[0] for row in rows],
                "series": [
                    {"name": {"en": "after training", "zh": "训练后"}, "y": [row[2] for row in rows]},
                    {"name": {"en": "least possible", "zh": "理论下限"}, "y": [row[3] for row in rows]},
                ],
            }
        ],
        "checks": [
            {
                "says": {"en": "r < 4: relative distance to the least possible", "zh": "r < 4：与理论下限的相对差"},
                "holds": off < 0.01,
                "got": f"{off:.1g}",
                "due": "< 0.01",
            },
            {
                "says": {"en": "r ≥ 4: error", "zh": "r ≥ 4：误差"},
                "holds": enough < 1e-4,
                "got": f"{enough:.0e}",
                "due": "< 1e-4",
            },
        ],
        "seen": {
            "en": f"rank 1 stopped at {rows[0][2]:.3f} (the least possible is {rows[0][3]:.3f}), and from rank 4 on at most {enough:.0e} was left.",
            "zh": f"秩为 1 时停在 {rows[0][2]:.3f}（理论下限 {rows[0][3]:.3f}）；秩达到 4 以后，剩余误差最多 {enough:.0e}。",
        },
    }


def error_after_training(x, change, r, generator):
    """Return ‖A·B − ΔW‖²/d after training: the expected mean squared error for an unseen Gaussian input."""
    a = (torch.randn(WIDTH, r, generator=generator) / WIDTH**0.5).requires_grad_()  # (d, r)
    b = torch.zeros(r, WIDTH, requires_grad=True)  # (r, d), zero: the change starts at 0
    optimiser = torch.optim.Adam([a, b], lr=1e-2)
    target = x @ change  # (n, d)
    for _ in range(600):
        loss = (x @ a @ b - target).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return ((a @ b - change).square().sum() / WIDTH).item()
