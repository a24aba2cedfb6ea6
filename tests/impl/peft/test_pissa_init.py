"""Check PiSSA's laws: the approximation is the best of its rank, nothing is lost, both factors have equal norms."""

from __future__ import annotations

import pytest
import torch

from ..conftest import IMPL, load

pissa_init = load(IMPL / "peft/pissa-init/reference.py").pissa_init


@pytest.mark.parametrize(("O", "I", "r"), [(1, 1, 1), (5, 3, 2), (4, 7, 4), (6, 6, 1)])
def test_a_and_b_hold_the_best_approximation_and_the_residual_the_rest(O: int, I: int, r: int) -> None:
    W = torch.randn(O, I, dtype=torch.float64)
    A, B, rest = pissa_init(W, r)
    values = torch.linalg.svdvals(W)
    assert torch.allclose(rest + B @ A, W)
    assert torch.allclose(A @ A.T, torch.diag(values[:r])) and torch.allclose(B.T @ B, torch.diag(values[:r]))
    left_over = values[r:].square().sum()  # Eckart–Young: no matrix of rank r leaves less
    assert torch.allclose(rest.square().sum(), left_over, atol=1e-12)
    other = torch.randn(O, r, dtype=torch.float64) @ torch.randn(r, I, dtype=torch.float64)
    assert (W - other).square().sum() >= left_over


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sixteen_bits_have_an_svd_as_well(dtype: torch.dtype) -> None:
    W = torch.randn(5, 4).to(dtype)
    A, B, rest = pissa_init(W, 2)
    assert {A.dtype, B.dtype, rest.dtype} == {dtype}
    assert torch.allclose(rest.float() + B.float() @ A.float(), W.float(), atol=0.05)
