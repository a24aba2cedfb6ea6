"""topk-router-kernel: compare with Python's own sort by logit and then by expert, token by token."""

from __future__ import annotations

import math

import pytest
import torch

from ..conftest import IMPL, load

topk_router = load(IMPL / "kernels/topk-router-kernel/reference.py").topk_router


@pytest.mark.parametrize("levels", [3, 1000])
@pytest.mark.parametrize(("T", "E", "k"), [(1, 1, 1), (4, 5, 2), (3, 70, 8), (2, 7, 7)])
def test_experts_come_by_logit_then_by_number_with_a_softmax_of_the_chosen(T: int, E: int, k: int, levels: int) -> None:
    logits = torch.randint(-levels, levels, (T, E)).double() / 7
    weights, indices = topk_router(logits, k)
    for token, row in enumerate(logits.tolist()):
        due = sorted(range(E), key=lambda e: (-row[e], e))[:k]
        assert indices[token].tolist() == due
        powers = [math.exp(row[e] - row[due[0]]) for e in due]
        assert weights[token].tolist() == pytest.approx([power / sum(powers) for power in powers])


def test_switched_off_experts_come_last_with_weight_zero() -> None:
    weights, indices = topk_router(torch.tensor([[-torch.inf, 2.0, -torch.inf]]).half(), 3)
    assert weights.dtype == torch.float32 and indices.dtype == torch.int64
    assert weights.tolist() == [[1.0, 0.0, 0.0]] and indices.tolist() == [[1, 0, 2]]
