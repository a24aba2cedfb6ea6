"""Compare GPTQ with least squares over the remaining columns, and check its laws against plain rounding."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ..conftest import IMPL, load

gptq = load(IMPL / "quantisation/gptq/reference.py").gptq


def rounded(W: Tensor, scale: Tensor, top: int) -> Tensor:
    return (W / scale).round().clamp(-top, top) * scale


def to_nearest(W: Tensor, bits: int, group: int) -> Tensor:
    top = 2 ** (bits - 1) - 1
    return torch.cat([rounded(part, part.abs().amax(1, keepdim=True) / top, top) for part in W.split(group, 1)], 1)


def correlated(N: int, I: int) -> Tensor:
    return torch.randn(N, I, dtype=torch.float64) + 1.5 * torch.randn(N, 1, dtype=torch.float64)


@pytest.mark.parametrize("O, I, N, bits, group", [(1, 1, 1, 4, 1), (3, 8, 20, 3, 4), (4, 12, 5, 4, 3), (2, 6, 2, 2, 6)])
@pytest.mark.parametrize("damp", [0.01, 0.5])
def test_each_column_is_what_least_squares_leaves(O: int, I: int, N: int, bits: int, group: int, damp: float) -> None:
    W, X = torch.randn(O, I, dtype=torch.float64), correlated(N, I)
    ridge = (damp * (X.T @ X).diagonal().mean()).sqrt() * torch.eye(I)
    A, got, top = torch.cat([X, ridge]), gptq(W, X, bits, group, damp), 2 ** (bits - 1) - 1
    for j in range(I):  # the columns from j on that best make good, on X and on the ridge, what the first j have spoilt
        spoilt = A[:, :j] @ (got - W)[:, :j].T
        now = W[:, j:] - torch.linalg.lstsq(A[:, j:], spoilt).solution.T
        if j % group == 0:
            scale = now[:, :group].abs().amax(1) / top
        assert torch.allclose(got[:, j], rounded(now[:, 0], scale, top), atol=1e-9)


def test_outputs_change_less_than_by_rounding() -> None:
    ratios = []
    for _ in range(8):
        W, X = torch.randn(16, 32, dtype=torch.float64), correlated(200, 32)
        errors = [float(((W - back) @ X.T).square().sum()) for back in (gptq(W, X, 3, 16), to_nearest(W, 3, 16))]
        ratios.append(errors[0] / errors[1])
    assert sum(ratios) / len(ratios) < 0.7


def test_orthonormal_inputs_leave_plain_rounding() -> None:
    W, X = torch.randn(5, 12, dtype=torch.float64), torch.linalg.qr(torch.randn(40, 12, dtype=torch.float64))[0]
    assert torch.allclose(gptq(W, X, 4, 4), to_nearest(W, 4, 4), atol=1e-9)
