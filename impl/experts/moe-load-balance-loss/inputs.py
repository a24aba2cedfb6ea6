"""Choices that are not the most probable experts, experts without tokens, all tokens on one."""

from __future__ import annotations

import torch

AXES = {"probs": "N E", "idx": "N k"}
SIZES = {"N": (1, 6, 300), "E": (1, 5, 40)}
# In float32 alone: a share counted in float32 is exact enough for code that writes counts.float().
PROFILES = {check: ["ordinary"] for check in ("matches-reference", "gradients", "edge-cases")}


def probabilities(make, N, E):
    """Rows of a softmax, or sigmoids, which do not add up to 1."""
    logits = 1.5 * torch.randn((N, E), generator=make.random, dtype=torch.float64)
    return make.keep(make.pick([logits.softmax(-1), logits.sigmoid()]), grad=True)


def choices(make, N, E, k):
    """k experts for each token, whatever their probabilities; some experts more often than others."""
    popular = make.real(0.0, 2.0) * torch.arange(E)
    return (torch.rand((N, E), generator=make.random, dtype=torch.float64) + popular / E).argsort(dim=-1)[:, :k]


def case(make):
    (N, E), k = make.sizes("N", "E"), make.pick([2, 1, 3, 99])
    make.call(
        "switch_aux_loss",
        probabilities(make, N, E),
        make.keep(choices(make, N, E, min(k, E))),
        make.pick([0.01, 1.0, 0.5, 3.0]),
    )


def edge_uniform_and_collapsed(make):
    """uniform load gives α for any k; all tokens on the same k experts α·E/k

    负载均匀时为 α，k 任意；所有 token 都选同样的 k 个专家时为 α·E/k
    """
    for k in (1, 2, 4):
        uniform = torch.arange(k) + torch.arange(8)[:, None]
        make.call("switch_aux_loss", make.keep(torch.full((8, 4), 0.25), grad=True), uniform % 4, 0.01)
        collapsed = torch.zeros(8, 4)
        collapsed[:, :k] = 1.0 / k
        make.call("switch_aux_loss", make.keep(collapsed, grad=True), torch.arange(k).expand(8, k).contiguous(), 0.01)


def edge_experts_without_tokens(make):
    """experts that nobody chose, the last ones among them: no gradient, but E counts them

    没人选的专家，包括编号最大的几个：没有梯度，但 E 照样算上它们
    """
    for rows in ([[1, 0], [1, 2], [1, 3]], [[2], [2], [2]], [[0]]):
        make.call("switch_aux_loss", probabilities(make, len(rows), 7), torch.tensor(rows), 1.0)


def edge_one_token(make):
    """one token, all experts chosen or a single one

    只有一个 token，选全部专家，或只选一个
    """
    for k in (5, 1):
        make.call("switch_aux_loss", probabilities(make, 1, 5), make.keep(choices(make, 1, 5, k)), 0.1)


def edge_count_in_bfloat16(make):
    """1,001 tokens on one expert in bfloat16 and float16: a 16-bit count or sum stops growing

    bfloat16、float16 下 1,001 个 token 选同一个专家：16 位的计数或累加会停在半路
    """
    for dtype in (torch.bfloat16, torch.float16):
        probs = torch.rand((1001, 3), generator=make.random).to(dtype)
        make.call("switch_aux_loss", make.keep(probs, grad=True, dtype="fixed"), torch.ones(1001, 1).long(), 1.0)
