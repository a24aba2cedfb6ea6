"""Leaves weight_decay out of the groups.
参数组里没写 weight_decay。

symptom: The optimiser's default decays instead.
症状：改用了优化器的默认权重衰减。

cards: peft-09
rung: solved
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

    for name, parameter in model.named_parameters():
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
    return [{"params": params, "lr": rate} for params, rate in groups]
