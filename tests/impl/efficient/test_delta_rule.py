"""Compare the delta rule with the formula over single numbers; check replaced and kept values, and its descent."""

from __future__ import annotations

import pytest
import torch

from tests.impl.conftest import IMPL, load

delta_rule = load(IMPL / "efficient/delta-rule/reference.py").delta_rule


def drawn(T, d=3, dv=2):
    q, k = torch.randn(2, 2, 2, T, d, dtype=torch.float64)
    return q, k / k.norm(dim=-1, keepdim=True), torch.randn(2, 2, T, dv).double(), torch.rand(2, 2, T).double()


@pytest.mark.parametrize("T", [1, 2, 9])
@pytest.mark.parametrize("begun", [True, False])
def test_it_is_the_formula(T, begun):
    q, k, v, beta = drawn(T)
    S0 = torch.randn(2, 2, 2, 3, dtype=torch.float64) if begun else None
    y, last = delta_rule(q, k, v, beta, S0)
    for b, h in ((b, h) for b in range(2) for h in range(2)):
        S = S0[b, h] if begun else torch.zeros(2, 3, dtype=torch.float64)
        for t in range(T):
            outer = beta[b, h, t] * torch.outer(k[b, h, t], k[b, h, t])
            S = S @ (torch.eye(3) - outer) + beta[b, h, t] * torch.outer(v[b, h, t], k[b, h, t])
            assert torch.allclose(y[b, h, t], S @ q[b, h, t], rtol=1e-10, atol=1e-12)
        assert torch.allclose(last[b, h], S, rtol=1e-10, atol=1e-12)


def test_a_unit_key_answers_with_the_last_value_written_at_full_rate():
    _, k, v, beta = drawn(5)
    k[:, :, 4], beta[:, :, 4] = k[:, :, 1], 1.0
    y, _ = delta_rule(k, k, v, beta)
    assert torch.allclose(y[:, :, 4], v[:, :, 4], atol=1e-12)


def test_pieces_continue_where_the_last_one_stopped():
    args = drawn(7)
    whole, last = delta_rule(*args)
    first, state = delta_rule(*(x[:, :, :3] for x in args))
    second, end = delta_rule(*(x[:, :, 3:] for x in args), state)
    assert torch.allclose(torch.cat([first, second], 2), whole) and torch.allclose(end, last)
