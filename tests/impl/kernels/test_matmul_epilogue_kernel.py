"""Compare the product with bias and GELU that serves as the kernels' reference with torch's own operations."""

import pytest
import torch
import torch.nn.functional as F

from ..conftest import IMPL, load

linear_gelu = load(IMPL / "kernels/matmul-epilogue-kernel/reference.py").linear_gelu


@pytest.mark.parametrize(("M", "N", "K"), [(1, 1, 1), (3, 5, 7), (65, 2, 33), (2, 70, 300)])
def test_it_is_torchs_linear_and_gelu(M: int, N: int, K: int) -> None:
    x, w = torch.randn(M, K, dtype=torch.float64), torch.randn(K, N, dtype=torch.float64)
    b = torch.randn(N, dtype=torch.float64)
    due = F.gelu(F.linear(x, w.T, b), approximate="tanh")
    assert torch.allclose(linear_gelu(x, w, b), due, rtol=1e-12, atol=1e-14)


def test_the_tails_are_the_identity_and_zero() -> None:
    z = torch.tensor([[100.0], [-100.0]])
    assert linear_gelu(z, torch.ones(1, 1), torch.zeros(1)).tolist() == [[100.0], [0.0]]


def test_float16_is_added_up_in_float32() -> None:
    got = linear_gelu(torch.ones(1, 3001).half(), torch.ones(3001, 1).half(), torch.zeros(1).half())
    assert got.item() == torch.tensor(3001.0).half().item()
