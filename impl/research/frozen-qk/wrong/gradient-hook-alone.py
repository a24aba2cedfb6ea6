"""Zeroes the gradient of the rows of Q and K in a hook.
用 hook 把 Q、K 行的梯度清零，仅此而已。

symptom: Weight decay shrinks them all the same, by 1 − ηλ a step.
症状：权重衰减照样每步把它们乘以 1 − ηλ。

cards: eval-08, opt-06
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
            rows = 2 * module.out_features // 3
            mask = torch.ones_like(module.weight)
            mask[:rows] = 0
            module.weight.register_hook(lambda g, mask=mask: g * mask)
        else:
            continue
        names.append(name + ".weight")
    return names
