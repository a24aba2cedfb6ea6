"""Zeroes gradients by hooks throughout, even where a weight stands alone.
一律用 hook 把梯度清零，连独立的权重也是。

symptom: Weight decay moves q_proj, k_proj and the MLP.
症状：权重衰减会移动 q_proj、k_proj 和 MLP。

cards: eval-08, opt-06
rung: solved
"""

import torch
from torch import nn
from torch.nn.utils import parametrize


class KeepsRows(nn.Module):
    def __init__(self, frozen):
        super().__init__()
        self.register_buffer("frozen", frozen)

    def forward(self, rest):
        return torch.cat([self.frozen, rest])

    def right_inverse(self, weight):
        return weight[len(self.frozen) :].clone()


def freeze_components(model, which):
    names = []
    for name, module in list(model.named_modules()):
        if not isinstance(module, nn.Linear):
            continue
        *path, last = name.split(".")
        if which == "qk" and last in ("q_proj", "k_proj") or which == "mlp" and "mlp" in path:
            module.weight.register_hook(torch.zeros_like)
        elif which == "qk" and last == "c_attn":
            rows = 2 * module.out_features // 3
            frozen = module.weight.detach()[:rows].clone()
            parametrize.register_parametrization(module, "weight", KeepsRows(frozen))
        else:
            continue
        names.append(name + ".weight")
    return names
