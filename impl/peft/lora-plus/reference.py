"""LoRA+: the matrix B learns faster than A, by a ratio of about 16; nothing else about LoRA changes.

A maps the wide input to r numbers, B maps r numbers to the wide output. A step of Adam has the same size in every
entry, so a step of A adds up over the whole width and one of B over r terms only: with one rate for both, B crawls.

Decisions:
- a name is split at its dots: `lora_B` must be a whole component, anywhere in the name (`q.lora_B.default.weight`);
- each trainable parameter is in one group once, frozen ones in none; `parameters()` lists a shared weight once, under its
  first name, so embeddings are found by module and not by name;
- B and embeddings have separate groups, even at equal rates, so that a schedule can treat them differently.

Hayou et al. 2024, arXiv 2402.12354.
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
    return [{"params": params, "lr": rate, "weight_decay": weight_decay} for params, rate in groups]
