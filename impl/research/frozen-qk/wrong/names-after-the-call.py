"""Collects the names at the end, from what no longer requires gradients.
最后才按“不再需要梯度的参数”收集名字。

symptom: A parametrised c_attn is missing.
症状：被参数化的 c_attn 不在其中。

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
    for name, module in list(model.named_modules()):
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
    return [name for name, p in model.named_parameters() if not p.requires_grad]
