"""Rows with unequal numbers of targets, masks of three dtypes, logits of any size."""

from __future__ import annotations

import torch

AXES = {"logits": "B T V", "ids": "B T", "loss_mask": "B T"}
SIZES = {"B": (1, 3, 40), "T": (2, 6, 50), "V": (1, 7, 130)}
LARGE = 40.0
# In float32 alone: torch.tensor(0.0) is a fair answer where there is no target.
PROFILES = {check: ["ordinary"] for check in ("matches-reference", "edge-cases")}
_DTYPES = (torch.bool, torch.int64, torch.float32)


def targets(make, B, T):
    """A mask of 0 and 1; each row has another share of ones."""
    share = torch.rand((B, 1), generator=make.random)
    return torch.rand((B, T), generator=make.random) < share


def ids_for(make, B, T, V):
    return make.keep(make.integers(0, V, B, T))


def case(make):
    B, T, V = make.sizes("B", "T", "V")
    mask = make.pick([None, *_DTYPES])
    if mask is not None:
        mask = make.keep(targets(make, B, T).to(mask), dtype="fixed")
    logits = make.argument("logits", scale=make.pick([1.0, 4.0]))
    make.call("lm_loss", logits, ids_for(make, B, T, V), mask, z_coef=make.pick([0.0, 0.1, 0.0, 1e-2]))


def edge_no_target(make):
    """no target at all: 0 with zero gradient; the first id is never a target

    一个目标也没有：损失为 0，梯度为 0；第一个 id 永远不是目标
    """
    for dtype in _DTYPES:
        mask = torch.zeros(2, 4, dtype=dtype)
        mask[:, 0] = dtype is torch.int64
        make.call("lm_loss", make.normal(2, 4, 5), ids_for(make, 2, 4, 5), make.keep(mask, dtype="fixed"), 0.1)


def edge_rows_of_unequal_length(make):
    """one target in a row, all in another, none in a third: every token counts the same

    一行只有一个目标，一行全是，一行没有：每个 token 权重相同
    """
    mask = torch.zeros(3, 9, dtype=torch.bool)
    mask[0, 4] = True
    mask[1] = True
    for z_coef in (0.0, 0.5):
        make.call("lm_loss", make.normal(3, 9, 4, scale=3.0), ids_for(make, 3, 9, 4), mask, z_coef)


def edge_single_targets(make):
    """a single target, first and last: the logits before it are judged, no others

    只有一个目标，分别在最前和最后：只评判它前一个位置的 logits
    """
    for place in (1, 4):
        mask = torch.zeros(1, 5, dtype=torch.bool)
        mask[0, place] = True
        make.call("lm_loss", make.normal(1, 5, 6), ids_for(make, 1, 5, 6), mask)


def edge_logits_of_ten_thousand(make):
    """logits of ±10⁴ and all equal ones: exp of them overflows, log of their softmax is −∞

    logits 为 ±10⁴，或全都相等：直接取 exp 会溢出，softmax 再取 log 是 −∞
    """
    logits = torch.tensor([[[1e4, 0.0, -1e4], [-1e4, 1e4, 5e3], [1e4, 1e4, 1e4], [0.0, 0.0, 0.0]]])
    for ids in ([[0, 2, 1, 0]], [[1, 0, 0, 2]]):
        make.call("lm_loss", make.keep(logits, grad=True), torch.tensor(ids))
    make.call("lm_loss", make.keep(logits / 100, grad=True), torch.tensor([[0, 2, 1, 0]]), z_coef=0.01)


def edge_sums_in_sixteen_bits(make):
    """600 targets in bfloat16 and float16: logits, their sum and their count need float32

    bfloat16、float16 下有 600 个目标：logits、求和与计数都要用 float32
    """
    for dtype in (torch.bfloat16, torch.float16):
        logits = torch.randn((3, 201, 4), generator=make.random).to(dtype)
        make.call("lm_loss", make.keep(logits, grad=True, dtype="fixed"), ids_for(make, 3, 201, 4), z_coef=0.1)
