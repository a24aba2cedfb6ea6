"""Scores on both sides of each other, with margins and without, far apart and equal."""

from __future__ import annotations

import torch

AXES = {"chosen": "B", "rejected": "B", "margin": "B"}
SIZES = {"B": (1, 5, 200)}
LARGE = 300.0
_ROUNDING = {"float32": 2.4e-7, "float16": 2.4e-7, "bfloat16": 2.4e-7, "float64": 4.5e-16}
TOLERANCE = TOLERANCE_STABLE = _ROUNDING  # log(1 + e^-x) may round to log 1
# In float32 alone: F.softplus is linear beyond 20, which only float64 can tell.
PROFILES = {"stable": ["large"], **{check: ["ordinary"] for check in ("matches-reference", "gradients", "edge-cases")}}
WITHOUT_MOTIFS = {"same"}  # the margin's gradient is nobody's business, whatever tensor it is


def case(make):
    make.size("B")
    scale = make.pick([1.0, 4.0, 0.1])
    scores = make.argument("chosen", scale=scale), make.argument("rejected", scale=scale)
    margin = make.argument("margin", scale=0.5, mean=1.0, grad=False) if make.flag() else None
    make.call("rm_loss", *scores, margin=margin)


def pairs(make, lead, margin=None):
    """Call with scores that have the given differences."""
    lead = torch.tensor(lead)
    chosen, rejected = make.keep(2.0 + 0.75 * lead, grad=True), make.keep(2.0 - 0.25 * lead, grad=True)
    make.call("rm_loss", chosen, rejected, None if margin is None else make.keep(torch.tensor(margin)))


def edge_equal_scores(make):
    """equal scores give log 2; with a margin more than that

    分数相等时损失是 log 2；有 margin 时更大
    """
    pairs(make, [0.0, 0.0, 0.0])
    pairs(make, [0.0, 0.0, 0.0], [0.0, 1.0, 3.0])


def edge_one_pair(make):
    """a single pair: margin 0, a margin that is met exactly, a negative one

    只有一对：margin 为 0、恰好达到、为负
    """
    for margin in (0.0, 2.0, -1.0):
        pairs(make, [2.0], [margin])


def edge_far_apart(make):
    """differences of ±4000 and about −100: linear on the wrong side, 0 on the right one

    分差 ±4000，以及 −100 左右：错的一侧是线性的，对的一侧为 0
    """
    pairs(make, [4000.0, -4000.0, 0.0])
    pairs(make, [-88.0, -104.0, 120.0], [0.0, 4.0, 8.0])
    make.call("rm_loss", *(make.keep(torch.tensor(x), grad=True) for x in ([-1e4, 1e4], [1e4, -1e4])))


def edge_mean_of_losses(make):
    """a pair far right beside one far wrong: the mean of losses, each with its own margin

    远远正确和远远错误的放在一起：先算损失再平均，每对用自己的 margin
    """
    pairs(make, [8.0, -8.0, 6.0])
    pairs(make, [8.0, -8.0, 6.0], [8.0, 0.0, -4.0])


def edge_close_scores_in_sixteen_bits(make):
    """float16 and bfloat16 scores whose difference these round, or cannot hold

    float16、bfloat16 的分数，求差会被舍入，甚至放不下
    """
    for dtype in (torch.float16, torch.bfloat16):
        for rows in ([[300.0, 5.0], [0.4375, 3.0], [1.0, 0.0078125]], [[-40000.0, 1.0], [40000.0, 0.5], [0.0, 0.25]]):
            chosen, rejected, margin = torch.tensor(rows).to(dtype)
            scores = (make.keep(part, grad=True, dtype="fixed") for part in (chosen, rejected))
            make.call("rm_loss", *scores, make.keep(margin, dtype="fixed"))
