"""Knows q_proj and k_proj alone.
只认得 q_proj 和 k_proj。

symptom: In a model of GPT-2's kind nothing is frozen.
症状：GPT-2 那样的模型里什么都没冻结。

cards: head-12
rung: solved
"""

import torch
from torch import nn


def freeze_components(model, which):
    names = []
    for name, module in list(model.named_modules()):
        if not isinstance(module, nn.Linear):
            continue
        *path, last = name.split(".")
        if which == "qk" and last in ("q_proj", "k_proj") or which == "mlp" and "mlp" in path:
            module.weight.requires_grad_(False)
        else:
            continue
        names.append(name + ".weight")
    return names
