"""int4-matmul-kernel: unpack each weight from its byte one by one, and compare with int4-group-quant's packing."""

from __future__ import annotations

import pytest
import torch

from ..conftest import IMPL, load

int4_matmul = load(IMPL / "kernels/int4-matmul-kernel/reference.py").int4_matmul
quantize_int4 = load(IMPL / "quantisation/int4-group-quant/reference.py").quantize_int4


@pytest.mark.parametrize(("M", "N", "K", "group"), [(1, 1, 2, 2), (3, 4, 12, 6), (2, 5, 8, 2), (4, 3, 10, 10)])
def test_each_weight_is_its_code_less_the_zero_point_times_the_scale(M: int, N: int, K: int, group: int) -> None:
    x = torch.randn(M, K, dtype=torch.float64)
    packed = torch.randint(0, 256, (N, K // 2)).to(torch.uint8)
    scales = torch.rand(N, K // group, dtype=torch.float64)
    zeros = torch.randint(0, 16, (N, K // group)).to(torch.uint8)
    due = torch.zeros(M, N, dtype=torch.float64)
    for n in range(N):
        for k in range(K):
            code = int(packed[n, k // 2]) // (16 if k % 2 else 1) % 16
            due[:, n] += x[:, k] * (code - int(zeros[n, k // group])) * float(scales[n, k // group])
    assert torch.allclose(int4_matmul(x, packed, scales, zeros, group), due, rtol=1e-12, atol=1e-12)


def test_it_reads_what_int4_group_quant_packs_once_the_sign_is_a_zero_point_of_eight() -> None:
    w, x = torch.randn(6, 16, dtype=torch.float64), torch.eye(16, dtype=torch.float64)
    packed, scales = quantize_int4(w, 8)
    got = int4_matmul(x, packed ^ 0x88, scales, torch.full((6, 2), 8, dtype=torch.uint8), 8).T
    assert bool(((got - w).abs() <= 0.501 * scales.repeat_interleave(8, 1)).all())
