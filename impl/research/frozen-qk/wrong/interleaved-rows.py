"""Takes c_attn for (Q, K, V) row by row.
以为 c_attn 的行按 Q、K、V 轮流排列。

symptom: Two thirds of V are frozen, and a third of Q and K trains.
症状：V 有三分之二被冻结，Q、K 却有三分之一在训练。

cards: head-12
rung: solved
"""

import torch
from torch import nn
from torch.nn.utils import parametrize


class Mixed(nn.Module):
    def __init__(self, frozen, place):
        super().__init__()
        self.register_buffer("frozen", frozen)
        self.register_buffer("place", place)

    def forward(self, weight):
        return torch.where(self.place, self.frozen, weight)

    def right_inverse(self, weight):
        return weight


def freeze_components(model, which):
    names = []
    for name, module in list(model.named_modules()):
        if not isinstance(module, nn.Linear):
            continue
        *path, last = name.split(".")
        if which == "qk" and last in ("q_proj", "k_proj") or which == "mlp" and "mlp" in path:
            module.weight.requires_grad_(False)
        elif which == "qk" and last == "c_attn":
            place = torch.arange(module.out_features, device=module.weight.device)[:, None] % 3 < 2
            parametrize.register_parametrization(module, "weight", Mixed(module.weight.detach().clone(), place))
        else:
            continue
        names.append(name + ".weight")
    return names
