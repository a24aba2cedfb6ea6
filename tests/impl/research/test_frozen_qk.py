"""Freeze parts of a model, and compare with the same model without frozen parts."""

from __future__ import annotations

import copy
from collections import OrderedDict

import pytest
import torch
from torch import nn

from tests.impl.conftest import IMPL, load

freeze_components = load(IMPL / "research/frozen-qk/reference.py").freeze_components


def model():
    attn = nn.Sequential(OrderedDict(c_attn=nn.Linear(4, 12), c_proj=nn.Linear(12, 4)))
    apart = nn.Sequential(OrderedDict((name, nn.Linear(4, 4)) for name in ("q_proj", "k_proj", "v_proj", "o_proj")))
    mlp = nn.Sequential(OrderedDict(c_fc=nn.Linear(4, 8), act=nn.GELU(), c_proj=nn.Linear(8, 4)))
    return nn.Sequential(OrderedDict(ln=nn.LayerNorm(4), attn=attn, mlp=mlp, next=apart)).double()


def weights(of):
    layers = [(name, m) for name, m in of.named_modules() if isinstance(m, (nn.Linear, nn.LayerNorm))]
    return {f"{name}.{part}": getattr(m, part).detach().clone() for name, m in layers for part in ("weight", "bias")}


@pytest.mark.parametrize(
    ("which", "due"),
    [
        ("qk", ["attn.c_attn.weight", "next.q_proj.weight", "next.k_proj.weight"]),
        ("mlp", ["mlp.c_fc.weight", "mlp.c_proj.weight"]),
    ],
)
def test_what_is_named_stays_and_all_else_trains_as_if_nothing_were_frozen(which, due):
    mine = model()
    free, before = copy.deepcopy(mine), weights(mine)
    assert freeze_components(mine, which) == due
    assert all(torch.equal(value, before[name]) for name, value in weights(mine).items())
    for each in (mine, free):
        optimizer = torch.optim.SGD([p for p in each.parameters() if p.requires_grad], lr=0.1, weight_decay=0.3)
        each(torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 4)).square().sum().backward()
        optimizer.step()
    after, moved = weights(mine), weights(free)
    for name, value in after.items():
        still = 0 if name not in due else 8 if "c_attn" in name else len(value)
        assert torch.equal(value[:still], before[name][:still])
        assert torch.allclose(value[still:], moved[name][still:]) and not torch.equal(moved[name], before[name])


def test_adamw_moves_a_row_whose_gradient_is_zero():
    weight = nn.Parameter(torch.ones(2))
    weight.grad = torch.zeros(2)
    torch.optim.AdamW([weight], lr=0.1, weight_decay=0.5).step()
    assert torch.allclose(weight, torch.full((2,), 0.95))
