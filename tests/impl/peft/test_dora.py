"""Compare DoRA's reference with the rule row by row, and with the gradient in the paper."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from ..conftest import IMPL, load

DoRALinear = load(IMPL / "peft/dora/reference.py").DoRALinear


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("width", "out", "r"), [(1, 1, 1), (3, 5, 2), (6, 4, 7)])
def test_dora_is_the_rule_row_by_row(width: int, out: int, r: int, bias: bool) -> None:
    base = nn.Linear(width, out, bias=bias).double()
    layer, x = DoRALinear(base, r, 3.0), torch.randn(2, width, dtype=torch.float64)
    assert torch.allclose(layer(x), base(x), atol=1e-12)
    with torch.no_grad():
        layer.lora_B.normal_()
        layer.m.normal_()
    for o in range(out):
        row = base.weight[o] + 3.0 / r * sum(layer.lora_B[o, k] * layer.lora_A[k] for k in range(r))
        row = layer.m[o] * row / row.norm().item()  # the norm as a number: no gradient goes through it
        due = x @ row + (base.bias[o] if bias else 0.0)
        assert torch.allclose(layer(x)[:, o], due, atol=1e-12)
        assert torch.allclose(layer.merged_weight()[o], row, atol=1e-12)
        mine, theirs = (torch.autograd.grad(y.sum(), (layer.lora_A, layer.m)) for y in (layer(x)[:, o], due))
        assert all(torch.allclose(a, b, atol=1e-12) for a, b in zip(mine, theirs, strict=True))


def test_a_row_of_zeros_stays_zero_and_finite() -> None:
    base = nn.Linear(3, 2)
    with torch.no_grad():
        base.weight[0] = 0.0
    layer = DoRALinear(base, 2, 1.0)
    y = layer(torch.ones(1, 3))
    assert torch.allclose(y, base(torch.ones(1, 3)))
    assert all(bool(g.isfinite().all()) for g in torch.autograd.grad(y.sum(), (layer.lora_A, layer.lora_B, layer.m)))
