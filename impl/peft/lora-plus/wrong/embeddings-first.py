"""Asks whether a weight is an embedding's before it asks for lora_A and lora_B.
先判断是不是嵌入，再看 lora_A、lora_B。

symptom: An adapter of an embedding trains at the embeddings' rate.
症状：嵌入层的适配器按嵌入的学习率训练。

cards: peft-06
rung: solved
"""

from typing import Any

from torch import nn


def lora_plus_groups(model: nn.Module, lr: float, ratio: float = 16.0, weight_decay: float = 0.0,
                     lr_embedding: float | None = None) -> list[dict[str, Any]]:
    embeddings = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
    params: dict[int, Any] = {}
    parts: dict[int, set[str]] = {}
    for name, p in model.named_parameters(remove_duplicate=False):
        if not p.requires_grad:
            continue
        params.setdefault(id(p), p)
        parts.setdefault(id(p), set()).update(name.split("."))
    lrs = {
        "B": ratio * lr,
        "A": lr,
        "embedding": lr if lr_embedding is None else lr_embedding,
        "other": lr,
    }
    groups: dict[str, list] = {kind: [] for kind in lrs}
    for key, p in params.items():
        if key in embeddings:
            kind = "embedding"
        elif "lora_B" in parts[key]:
            kind = "B"
        elif "lora_A" in parts[key]:
            kind = "A"
        else:
            kind = "other"
        groups[kind].append(p)
    return [{"params": ps, "lr": lrs[kind], "weight_decay": weight_decay} for kind, ps in groups.items() if ps]
