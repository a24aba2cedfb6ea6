"""Compare the scan with a loop over single numbers, and check causality."""

from __future__ import annotations

import math

import pytest
import torch

from tests.impl.conftest import IMPL, load

ssm_scan = load(IMPL / "efficient/selective-scan/reference.py").ssm_scan


@pytest.mark.parametrize(("T", "D", "N"), [(1, 1, 1), (7, 3, 5), (40, 2, 4)])
def test_each_state_is_its_own_number(T, D, N):
    x, dt, A = torch.randn(1, T, D).double(), torch.randn(1, T, D).double(), -torch.rand(D, N).double()
    into, out = torch.randn(1, T, N).double(), torch.randn(1, T, N).double()
    got = ssm_scan(x, dt, A, into, out)
    for c in range(D):
        h = [0.0] * N
        for t in range(T):
            delta = math.log1p(math.exp(float(dt[0, t, c])))
            h = [
                math.exp(delta * float(A[c, n])) * h[n] + delta * float(into[0, t, n]) * float(x[0, t, c])
                for n in range(N)
            ]
            due = sum(float(out[0, t, n]) * h[n] for n in range(N))
            assert float(got[0, t, c]) == pytest.approx(due, rel=1e-10, abs=1e-12)


def test_what_comes_later_changes_nothing():
    tensors = [torch.randn(2, 6, 3), torch.randn(2, 6, 3), torch.randn(2, 6, 4), torch.randn(2, 6, 4)]
    x, dt, into, out = tensors
    A = -torch.rand(3, 4)
    short = ssm_scan(*(part[:, :4] for part in (x, dt)), A, into[:, :4], out[:, :4])
    assert torch.allclose(ssm_scan(x, dt, A, into, out)[:, :4], short, atol=1e-6)
