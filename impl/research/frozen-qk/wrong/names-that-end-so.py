"""Looks at how a name ends: seq_proj ends in q_proj.
只看名字的结尾：seq_proj 也以 q_proj 结尾。

symptom: Modules with longer names stay as they were.
症状：名字更长的模块也被冻结。

cards: eval-08
rung: solved
"""

import torch
from torch import nn
from torch.nn.utils import parametrize


class Masked(nn.Module):
    def __init__(self, initial, trains):
        super().__init__()
        self.register_buffer("initial", initial)
        self.register_buffer("trains", trains)

    def forward(self, weight):
        return torch.where(self.trains, weight, self.initial)


def freeze_components(model, which):
    found = []
    for name, layer in list(model.named_modules()):
        if not isinstance(layer, nn.Linear):
            continue
        if which == "qk" and name.split(".")[-1] == "c_attn":
            row = torch.arange(layer.out_features, device=layer.weight.device)
            trains = (3 * row >= 2 * layer.out_features)[:, None]
            parametrize.register_parametrization(layer, "weight", Masked(layer.weight.detach().clone(), trains))
        elif "mlp" in name.split(".") if which == "mlp" else name.endswith(("q_proj", "k_proj")):
            layer.weight.requires_grad = False
        else:
            continue
        found.append(f"{name}.weight")
    return found
