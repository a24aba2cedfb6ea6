"""Freezes the last two thirds of c_attn.
冻结了 c_attn 的后三分之二。

symptom: K and V stay, Q trains.
症状：K、V 不动，Q 在训练。

cards: head-12, eval-08
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
        return torch.cat([rest, self.frozen])

    def right_inverse(self, weight):
        return weight[: -len(self.frozen)].clone()


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
            frozen = module.weight.detach()[-rows:].clone()
            parametrize.register_parametrization(module, "weight", KeepsRows(frozen))
        else:
            continue
        names.append(name + ".weight")
    return names
