"""Looks at the modules of the first level alone.
只看第一层的子模块。

symptom: In a real model nothing is frozen.
症状：真实模型里什么都没冻结。

cards: eval-08
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
    for name, module in list(model.named_children()):
        if not isinstance(module, nn.Linear):
            continue
        *path, last = name.split(".")
        if which == "qk" and last in ("q_proj", "k_proj") or which == "mlp" and "mlp" in path:
            module.weight.requires_grad_(False)
        elif which == "qk" and last == "c_attn":
            rows = 2 * module.out_features // 3
            frozen = module.weight.detach()[:rows].clone()
            parametrize.register_parametrization(module, "weight", KeepsRows(frozen))
        else:
            continue
        names.append(name + ".weight")
    return names
