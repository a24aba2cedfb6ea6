"""flash-forward-kernel: out equals torch's own attention, and exp(lse) is the sum of the visible exponentials."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from ..conftest import IMPL, load

flash_forward = load(IMPL / "kernels/flash-forward-kernel/reference.py").flash_forward


@pytest.mark.parametrize("scale", [1.0, 30.0])
@pytest.mark.parametrize(("T", "S", "causal"), [(5, 5, True), (3, 9, True), (1, 4, True), (6, 2, False), (7, 3, True)])
def test_the_reference_is_attention_and_its_log_sum_of_exponentials(T: int, S: int, causal: bool, scale: float) -> None:
    q, k, v = (torch.randn(2, 3, n, 4, dtype=torch.float64) * scale for n in (T, S, S))
    visible = torch.ones(T, S, dtype=torch.bool).tril(S - T) if causal else torch.ones(T, S, dtype=torch.bool)
    out, lse = flash_forward(q, k, v, causal)
    due = scaled_dot_product_attention(q, k, v, attn_mask=visible).nan_to_num(0.0)
    assert torch.allclose(out, due, rtol=1e-9, atol=1e-9)
    for row in range(T):
        scores = [float(q[1, 2, row] @ k[1, 2, j]) / math.sqrt(4) for j in range(S) if visible[row, j]]
        top = max(scores, default=0.0)
        sum_of_exp = sum(math.exp(score - top) for score in scores)
        assert float(lse[1, 2, row]) == pytest.approx(top + math.log(sum_of_exp) if scores else -math.inf)


def test_sixteen_bits_come_back_with_a_wide_lse() -> None:
    q = torch.randn(1, 1, 3, 4, dtype=torch.float16)
    assert [part.dtype for part in flash_forward(q, q, q)] == [torch.float16, torch.float32]
