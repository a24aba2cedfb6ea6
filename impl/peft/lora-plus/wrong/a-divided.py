"""Leaves B at lr and divides A's rate by the ratio.
B 用 lr，A 的学习率除以倍率。

symptom: The ratio is right, both rates are 16 times too small.
症状：比例对，两个学习率却都小了 16 倍。

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
    rates = {"b": lr, "a": lr / ratio, "embedding": lr if lr_embedding is None else lr_embedding, "other": lr}
    members: dict[str, list[nn.Parameter]] = {kind: [] for kind in rates}

    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        parts = name.split(".")
        if "lora_B" in parts:
            kind = "b"
        elif "lora_A" in parts:
            kind = "a"
        elif id(parameter) in embeddings:
            kind = "embedding"
        else:
            kind = "other"
        members[kind].append(parameter)

    groups = [(members[kind], rates[kind]) for kind in rates if members[kind]]
    return [{"params": params, "lr": rate, "weight_decay": weight_decay} for params, rate in groups]
