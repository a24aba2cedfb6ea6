"""Episodes that end anywhere, several in a row, at the last step or not at all."""

from __future__ import annotations

import torch

AXES = {
    "rewards": "B T",
    "values": "B T",
    "dones": "B T",
    "last_value": "B",
    "return[0]": "B T",
    "return[1]": "B T",
}
SIZES = {"B": (1, 3, 40), "T": (1, 6, 120)}
GRADIENTS = False
WITHOUT_GRAPH = ("rewards", "values", "last_value")
WITHOUT_MOTIFS = {"same"}
# In float32 alone: a running sum that begins as torch.zeros(B), or dones.float(), is not float64.
PROFILES = {check: ["ordinary"] for check in ("matches-reference", "edge-cases")}
_DTYPES = (torch.bool, torch.float32, torch.int64)


def rollout(make, B, T, dones, *settings):
    rewards, values = make.normal(B, T), make.normal(B, T, mean=0.5, scale=2.0)
    make.call("gae", rewards, values, dones, make.normal(B, mean=1.0, scale=2.0), *settings)


def case(make):
    (B, T), share = make.sizes("B", "T"), make.pick([0.3, 0.0, 0.7])
    dones = (torch.rand((B, T), generator=make.random) < share).to(make.pick(_DTYPES))
    dones = make.keep(dones, dtype="fixed")
    rollout(make, B, T, dones, make.pick([0.9, 1.0, 0.5, 0.0]), make.pick([0.95, 0.5, 1.0, 0.0]))


def edge_ends_of_episodes(make):
    """an end in the middle, at the last step, at the first, at every step: no value or advantage crosses it

    结束在中间、最后一步、第一步、每一步：价值和优势都不能跨过去
    """
    for ends in ([2], [5], [0], [0, 1, 2, 3, 4, 5], [1, 4], []):
        dones = torch.zeros(2, 6, dtype=torch.bool)
        dones[0, ends] = True
        rollout(make, 2, 6, dones, 0.9, 0.8)


def edge_one_step(make):
    """one step: cut off, it is continued by last_value; ended, it is not

    只有一步：被截断的要接上 last_value，真正结束的不接
    """
    for done in (0.0, 1.0):
        rollout(make, 2, 1, torch.full((2, 1), done), 0.9, 0.95)


def edge_limits(make):
    """λ = 0 is the TD error, λ = 1 the discounted return less the value, γ = 0 uses the immediate reward alone, γ = λ = 1 sums all

    λ = 0 是 TD 误差，λ = 1 是折扣回报减价值，γ = 0 只看眼前，γ = λ = 1 直接累加
    """
    dones = torch.tensor([[0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]).bool()
    for gamma, lam in ((0.9, 0.0), (0.9, 1.0), (0.0, 0.5), (1.0, 1.0)):
        rollout(make, 2, 5, dones, gamma, lam)


def edge_reward_at_the_end(make):
    """a single reward at the last of 40 tokens, γ = 1: it reaches the first one, λ³⁹ of it

    40 个 token，只有最后一个有奖励，γ = 1：第一个 token 也要收到 λ³⁹ 倍
    """
    rewards, dones = torch.zeros(1, 40), torch.zeros(1, 40)
    rewards[0, -1] = dones[0, -1] = 1.0
    for lam in (1.0, 0.95):
        make.call(
            "gae", make.keep(rewards), make.keep(torch.zeros(1, 40)), dones, make.keep(torch.tensor([3.0])), 1.0, lam
        )


def edge_long_sums_in_sixteen_bits(make):
    """300 steps in bfloat16 and float16: a sum of 16 bits stops growing

    bfloat16、float16 下走 300 步：16 位的累加会停住
    """
    for dtype in (torch.bfloat16, torch.float16):
        rewards, values = torch.rand((2, 300), generator=make.random), torch.zeros(2, 300)
        parts = [make.keep(part.to(dtype), dtype="fixed") for part in (rewards, values, torch.ones(2))]
        make.call("gae", *parts[:2], torch.zeros(2, 300, dtype=torch.bool), parts[2], 1.0, 1.0)
