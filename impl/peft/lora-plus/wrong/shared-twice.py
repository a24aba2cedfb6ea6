"""Goes through the modules and lists a shared weight twice.
逐个模块遍历，共享的权重列了两次。

symptom: torch.optim warns of duplicates.
症状：torch.optim 会警告重复参数。

cards: peft-09
rung: hardened
"""

from __future__ import annotations

from typing import Any

from torch import nn


def lora_plus_groups(
    model: nn.Module,
    lr: float,
    ratio: float = 16.0,
    weight_decay: float = 0.0,
    lr_embedding: float | None = None,
) -> list[dict[str, Any]]:
    embeddings = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    rates = {"b": ratio * lr, "embedding": lr if lr_embedding is None else lr_embedding, "other": lr}
    members: dict[str, list[nn.Parameter]] = {kind: [] for kind in rates}

    for name, parameter in model.named_parameters(remove_duplicate=False):
        if not parameter.requires_grad:
            continue
        parts = name.split(".")
        if "lora_B" in parts:
            kind = "b"
        elif "lora_A" not in parts and id(parameter) in embeddings:
            kind = "embedding"
        else:
            kind = "other"
        members[kind].append(parameter)

    groups = [(members[kind], rates[kind]) for kind in rates if members[kind]]
    return [{"params": params, "lr": rate, "weight_decay": weight_decay} for params, rate in groups]
