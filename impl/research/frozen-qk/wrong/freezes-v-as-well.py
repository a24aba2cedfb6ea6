"""Freezes the whole of c_attn.
把整个 c_attn 都冻结了。

symptom: V does not train: the model is crippled, and the experiment shows something else.
症状：V 不训练，模型残废，实验说明的是另一回事。

cards: eval-08, head-12
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
        elif which == "qk" and last == "c_attn":
            module.weight.requires_grad_(False)
        else:
            continue
        names.append(name + ".weight")
    return names
