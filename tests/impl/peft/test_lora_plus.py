"""Compare LoRA+'s reference with torch's SGD: with gradients of 1 every parameter moves by its own rate."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from ..conftest import IMPL, load

lora_plus_groups = load(IMPL / "peft/lora-plus/reference.py").lora_plus_groups
DUE = {
    "wte.weight": 0.5,
    "q.lora_A.weight": 0.25,
    "q.lora_B.weight": 1.0,
    "k.lora_B.default.weight": 1.0,
    "lora_B_norm.weight": 0.25,
    "lora_B_norm.bias": 0.25,
    "base.weight": 0.0,
}


def model() -> nn.Module:
    def thin() -> nn.Linear:
        return nn.Linear(2, 2, bias=False)

    q = nn.ModuleDict({"lora_A": thin(), "lora_B": thin()})
    k = nn.ModuleDict({"lora_B": nn.ModuleDict({"default": thin()})})
    parts = {"wte": nn.Embedding(3, 2), "q": q, "k": k, "lora_B_norm": nn.LayerNorm(2), "base": thin()}
    whole = nn.ModuleDict(parts)
    whole["base"].requires_grad_(False)
    return whole


def test_every_parameter_moves_by_its_own_rate() -> None:
    net = model()
    before = {name: p.detach().clone() for name, p in net.named_parameters()}
    groups = lora_plus_groups(net, 0.25, ratio=4.0, lr_embedding=0.5)
    for parameter in net.parameters():
        parameter.grad = torch.ones_like(parameter)
    torch.optim.SGD(groups, lr=99.0).step()
    for name, parameter in net.named_parameters():
        assert torch.allclose(before[name] - parameter, torch.tensor(DUE[name]), atol=1e-6), name


@pytest.mark.parametrize("rate", [None, 0.0])
def test_an_embedding_tied_to_a_head_is_an_embeddings(rate: float | None) -> None:
    head, table = nn.Linear(2, 3, bias=False), nn.Embedding(3, 2)
    head.weight = table.weight
    groups = lora_plus_groups(nn.Sequential(head, table), 0.1, weight_decay=0.01, lr_embedding=rate)
    assert [(len(g["params"]), g["lr"], g["weight_decay"]) for g in groups] == [(1, 0.1 if rate is None else 0.0, 0.01)]
