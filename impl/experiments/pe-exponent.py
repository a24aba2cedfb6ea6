"""The sinusoidal table with one exponent per pair, 2i, and with the often-copied 2i + 1 for the cosine.

With one frequency a pair of columns is a point on a circle, and a shift by k rotates it by the same angle at every position:
PE(p)·PE(p + k) does not depend on p (the Gram matrix is Toeplitz), all rows have the norm √(d/2), and PE(p + k) = M_k PE(p)
for one matrix M_k. With two frequencies a pair is no circle, and all three are lost: sin(ω(p + k)) needs cos(ωp), which
the table no longer has. Measured are the deviation of each Gram diagonal from its mean, and the error of the best
d x d matrix (least squares over all positions) for a shift by 5. In float64, d = 64, 200 positions; nothing is drawn, the
seed changes nothing.

Control: the two tables are swapped.

Vaswani et al. 2017, arXiv 1706.03762, §3.5.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

TITLE = {"en": "Sinusoidal positions: one exponent a pair", "zh": "正弦位置编码：每对用同一个指数"}
CLAIM = {
    "en": "With exponent 2i for sine and cosine a shift is one linear map; with 2i + 1 for the cosine that property is lost.",
    "zh": "正弦和余弦都用指数 2i 时，平移是同一个线性映射；余弦改用 2i + 1，这个性质就没了。",
}
CARDS = ("pos-03", "pos-04", "pos-05")
CAVEATS = (
    {
        "en": "The copied table trains as well: a model can learn from it, only shifts are no longer alike everywhere.",
        "zh": "抄错的表照样能训练：模型仍能从中学习，只是各处的平移不再一致。",
    },
)
SEEDS = 1
SECONDS = (2, 2)
WIDTH, POSITIONS = 64, 200
LAGS = (0, 1, 5, 50)
SHOWN = 80


def both(en: str, zh: str) -> dict:
    return {"en": en, "zh": zh}


def check(says: dict, holds: bool, got: str, due: str) -> dict:
    return {"says": says, "holds": holds, "got": got, "due": due}


def speeds(odd_exponent: bool) -> Tensor:
    """Return radians per position, (d/2,): 10000^(−2i/d), or 10000^(−(2i + 1)/d)."""
    return 10_000 ** -((torch.arange(0, WIDTH, 2, dtype=torch.float64) + odd_exponent) / WIDTH)


def table(copied: bool) -> Tensor:
    """Return PE (T, d): sines in the even columns, cosines in the odd ones."""
    position = torch.arange(POSITIONS, dtype=torch.float64)[:, None]  # (T, 1)
    sines, cosines = (position * speeds(False)).sin(), (position * speeds(copied)).cos()  # (T, d/2) each
    return torch.stack((sines, cosines), dim=-1).flatten(-2)  # (T, d)


def shift_error(pe: Tensor, lag: int) -> float:
    """Return the largest error of PE(p + lag) against M PE(p), M being the best matrix (d, d) for all positions."""
    here, there = pe[:-lag], pe[lag:]  # (T − lag, d) each
    best = torch.linalg.lstsq(here, there, driver="gelsd").solution  # (d, d), Mᵀ; low frequencies leave it undetermined
    return (here @ best - there).abs().max().item()


def run(seed: int, quick: bool, progress: Callable[[float], None], control: bool = False) -> dict:
    rows, products = [], []
    spread, shifts = [], []
    for copied in (False, True):
        pe = table(copied != control)  # (T, d)
        gram = pe @ pe.T  # (T, T)
        diagonals = [gram.diagonal(lag) for lag in LAGS]  # (T − lag,) each
        spread.append([(one - one.mean()).abs().max().item() for one in diagonals])
        shifts.append(shift_error(pe, 5))
        products.append(diagonals[2][:SHOWN].tolist())
        norm = pe.norm(dim=-1)  # (T,)
        name = both("2i + 1 for the cosine", "余弦用 2i + 1") if copied else both("2i for both", "都用 2i")
        rows.append([name, max(spread[-1]), norm.min().item(), norm.max().item(), shifts[-1]])
        progress((copied + 1) / 2)
    right, copied = max(spread[0]), max(spread[1])
    return {
        "columns": [
            both("exponent", "指数"),
            both("stray of a diagonal", "对角线的偏离"),
            both("least norm", "最小范数"),
            both("largest norm", "最大范数"),
            both("best linear map, shift by 5: error", "平移 5 的最佳线性映射的误差"),
        ],
        "rows": rows,
        "plots": [
            {
                "kind": "line",
                "title": both("PE(p)·PE(p + 5) over the position p", "PE(p)·PE(p + 5) 随位置 p 的变化"),
                "x": list(range(len(products[0]))),
                "series": [
                    {"name": both("2i for both", "都用 2i"), "y": products[0]},
                    {"name": both("2i + 1 for the cosine", "余弦用 2i + 1"), "y": products[1]},
                ],
                "log": "",
            }
        ],
        "checks": [
            check(
                both("stray of the diagonals with 2i", "用 2i 时各对角线的偏离"),
                right < 1e-10,
                f"{right:.0e}",
                "< 1e-10",
            ),
            check(
                both("stray of the diagonals with 2i + 1", "用 2i + 1 时各对角线的偏离"),
                copied > 1,
                f"{copied:.2f}",
                "> 1",
            ),
            check(
                both("PE(p + 5) − M PE(p) for the best M, with 2i", "取最佳的 M，用 2i 时 PE(p + 5) − M PE(p)"),
                shifts[0] < 1e-10,
                f"{shifts[0]:.0e}",
                "< 1e-10",
            ),
            check(both("the same with 2i + 1", "同上，用 2i + 1"), shifts[1] > 0.5, f"{shifts[1]:.2f}", "> 0.5"),
        ],
        "seen": both(
            f"with 2i the diagonals of the Gram matrix were constant to {right:.0e} and one matrix made a shift to within {shifts[0]:.0e}; with 2i + 1 the diagonals strayed by up to {copied:.1f} and the best matrix missed by {shifts[1]:.1f}.",
            f"用 2i 时，Gram 矩阵各条对角线的偏离最大 {right:.0e}，一个矩阵就能做平移（误差 {shifts[0]:.0e}）；用 2i + 1 时偏离最大达 {copied:.1f}，最佳的矩阵也差 {shifts[1]:.1f}。",
        ),
    }
