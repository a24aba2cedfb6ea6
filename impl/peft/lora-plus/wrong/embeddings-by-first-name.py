"""Knows embeddings by the module of their first name.
按参数的第一个名字所在模块认嵌入。

symptom: A tied head that comes first hides them.
症状：绑定的输出头排在前面时就认不出。

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

    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        parts = name.split(".")
        if "lora_B" in parts:
            kind = "b"
        elif "lora_A" not in parts and isinstance(model.get_submodule(name.rpartition(".")[0]), nn.Embedding):
            kind = "embedding"
        else:
            kind = "other"
        members[kind].append(parameter)

    groups = [(members[kind], rates[kind]) for kind in rates if members[kind]]
    return [{"params": params, "lr": rate, "weight_decay": weight_decay} for params, rate in groups]
