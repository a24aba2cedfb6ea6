"""Pairs on both sides of the reference, margins from 0 to thousands."""

from __future__ import annotations

import torch

AXES = {"pc": "B", "pr": "B", "rc": "B", "rr": "B"}
SIZES = {"B": (1, 5, 200)}
LARGE = 200.0
_ROUNDING = {"float32": 2.4e-7, "float16": 2.4e-7, "bfloat16": 2.4e-7, "float64": 4.5e-16}
TOLERANCE = TOLERANCE_STABLE = _ROUNDING  # log(1 + e^-x) may round to log 1
# In float32 alone: F.softplus is linear beyond 20, which only float64 can tell.
PROFILES = {"stable": ["large"], **{check: ["ordinary"] for check in ("matches-reference", "gradients", "edge-cases")}}
WITHOUT_MOTIFS = {"same"}  # the reference's gradient is nobody's business, whatever tensor it is


def pairs(make, B, scale=1.0):
    """The policy near its reference, as it is in training, or far from it."""
    reference = [make.normal(B, mean=-30.0, scale=5.0, grad=False) for _ in range(2)]
    policy = [make.keep(part + make.normal(B, scale=scale, grad=False), grad=True) for part in reference]
    return *policy, *reference


def case(make):
    beta = make.pick([0.1, 1.0, 0.5, 0.01, 3.0])
    make.call("dpo_loss", *pairs(make, make.size("B"), make.pick([1.0, 4.0, 10.0])), beta)


def margins(make, values, beta, grad=True):
    """Call with log-probabilities that have the given margins."""
    m = torch.tensor(values)
    parts = -20.0 + 0.75 * m, -20.0 + 0.0 * m, -25.0 + 0.0 * m, -25.0 + 0.25 * m
    policy = [make.keep(part, grad=grad) for part in parts[:2]]
    make.call("dpo_loss", *policy, *(make.keep(part) for part in parts[2:]), beta)


def edge_policy_is_the_reference(make):
    """policy and reference agree: log 2, and every pair pulls with half its weight

    策略与参考一致：损失为 log 2，每一对的权重都是一半
    """
    reference = [make.normal(6, mean=-50.0, scale=9.0, grad=False) for _ in range(2)]
    policy = [make.keep(part, grad=True) for part in reference]
    for beta in (0.1, 2.0):
        make.call("dpo_loss", *policy, *reference, beta)


def edge_one_pair(make):
    """a single pair, preferred rightly, wrongly, or by the reference alone

    只有一对：偏好对了、反了，或者只有参考模型偏好它
    """
    for margin in (3.0, -3.0):
        margins(make, [margin], 1.0)
    make.call(
        "dpo_loss",
        *(make.keep(torch.tensor([x]), grad=True) for x in (-9.0, -9.0)),
        torch.tensor([-5.0]),
        torch.tensor([-8.0]),
        1.0,
    )


def edge_margins_of_thousands(make):
    """margins of ±4·10³, log-probabilities of −10⁴: the loss is linear on one side and 0 on the other

    差值为 ±4·10³，对数概率为 −10⁴：一侧损失是线性的，另一侧为 0
    """
    margins(make, [4000.0, -4000.0, 0.0], 1.0)
    margins(make, [120.0, -120.0, -88.0, -104.0], 1.0)
    parts = torch.tensor([[-1e4, -12.0], [-16.0, -1e4], [-20.0, -24.0], [-28.0, -20.0]])
    policy = [make.keep(part, grad=True) for part in parts[:2]]
    make.call("dpo_loss", *policy, *(make.keep(part) for part in parts[2:]), 0.5)


def edge_mean_of_losses(make):
    """pairs that are far right and far wrong: the mean of losses, not the loss of the mean

    有的远远正确，有的远远错误：先算损失再平均，不是先平均再算损失
    """
    margins(make, [8.0, -8.0, 8.0, -6.0], 1.0)
    margins(make, [40.0, -8.0], 0.25)


def edge_differences_in_sixteen_bits(make):
    """float16 log-probabilities whose differences overflow, bfloat16 ones whose differences are rounded

    float16 的对数概率，求差会溢出；bfloat16 的，求差会被舍入
    """
    for dtype, rows in (
        (torch.float16, [[-40000.0, -1.0], [30016.0, -300.0], [-30016.0, -2.0], [40032.0, -300.0]]),
        (torch.bfloat16, [[-1.0, -3.0], [-300.0, -301.0], [-2.0, -2.5], [-300.0, -300.0]]),
    ):
        pc, pr, rc, rr = torch.tensor(rows).to(dtype)
        policy = [make.keep(part, grad=True, dtype="fixed") for part in (pc, pr)]
        make.call("dpo_loss", *policy, *(make.keep(part, dtype="fixed") for part in (rc, rr)), 0.1)
