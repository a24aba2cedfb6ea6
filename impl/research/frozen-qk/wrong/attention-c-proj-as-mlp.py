"""Takes every c_fc and c_proj for the MLP's.
见到 c_fc、c_proj 就当作 MLP 的。

symptom: The attention's output projection is frozen as well.
症状：注意力的输出投影也被冻结。

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
        if which == "qk" and last in ("q_proj", "k_proj") or which == "mlp" and last in ("c_fc", "c_proj"):
            module.weight.requires_grad_(False)
        elif which == "qk" and last == "c_attn":
            rows = 2 * module.out_features // 3
            frozen = module.weight.detach()[:rows].clone()
            parametrize.register_parametrization(module, "weight", KeepsRows(frozen))
        else:
            continue
        names.append(name + ".weight")
    return names
