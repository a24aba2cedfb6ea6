"""The selective scan against single numbers, against its own closed form, and by what large and tiny steps do."""

from __future__ import annotations

import math

import pytest
import torch

from tests.impl.conftest import IMPL, load

ssm_scan = load(IMPL / "efficient/selective-scan/reference.py").ssm_scan


def drawn(T, B=2, D=3, N=2):
    x, dt = torch.randn(2, B, T, D, dtype=torch.float64)
    Bm, C = torch.randn(2, B, T, N, dtype=torch.float64)
    return x, dt, -torch.rand(D, N, dtype=torch.float64) - 0.1, Bm, C


@pytest.mark.parametrize("T", [1, 2, 8])
def test_it_is_the_recurrence_of_every_single_state(T):
    x, dt, A, Bm, C = drawn(T)
    y = ssm_scan(x, dt, A, Bm, C)
    for b, c in ((b, c) for b in range(2) for c in range(3)):
        h = [0.0, 0.0]
        for t in range(T):
            step = math.log1p(math.exp(float(dt[b, t, c])))
            h = [math.exp(step * float(A[c, n])) * h[n] + step * float(Bm[b, t, n] * x[b, t, c]) for n in range(2)]
            assert float(y[b, t, c]) == pytest.approx(sum(float(C[b, t, n]) * h[n] for n in range(2)), rel=1e-10)


def test_it_is_a_lower_triangular_matrix_over_time():
    x, dt, A, Bm, C = drawn(6)
    step = torch.nn.functional.softplus(dt)
    time = step.cumsum(1)[..., None] * A  # (B, T, D, N)
    decay = torch.exp(time[:, :, None] - time[:, None]) * torch.ones(6, 6).tril()[None, :, :, None, None]
    due = torch.einsum("btn,btsdn,bsn,bsd->btd", C, decay, Bm, step * x)
    assert torch.allclose(ssm_scan(x, dt, A, Bm, C), due, rtol=1e-9, atol=1e-11)


def test_a_tiny_step_skips_a_token_and_a_large_one_forgets_the_past():
    x, dt, A, Bm, C = drawn(4)
    dt[:, 1], C[:, 1] = -100.0, C[:, 0]
    dt[:, 3] = 1000.0
    y = ssm_scan(x, dt, A, Bm, C)
    assert torch.allclose(y[:, 1], y[:, 0], atol=1e-12)
    assert torch.allclose(y[:, 3], 1000.0 * x[:, 3] * (Bm[:, 3] * C[:, 3]).sum(-1, keepdim=True))
