"""Sets the rows of Q and K to zero.
把 Q、K 的行置零。

symptom: Attention becomes uniform: frozen means at the initial values.
症状：注意力变成均匀的；冻结是停在初始值。

cards: eval-08, eval-10
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
            frozen = torch.zeros_like(module.weight.detach()[:rows])
            parametrize.register_parametrization(module, "weight", KeepsRows(frozen))
        else:
            continue
        names.append(name + ".weight")
    return names
