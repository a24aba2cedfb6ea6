"""Takes lr_embedding = 0.0 for none.
把 lr_embedding = 0.0 当成没给。

symptom: Embeddings that should stand still move.
症状：本该不动的嵌入动了。

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
    rates = {"b": ratio * lr, "embedding": lr_embedding or lr, "other": lr}
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
    return [{"params": params, "lr": rate, "weight_decay": weight_decay} for params, rate in groups]
