"""Looks for "mlp", "q_proj" or "k_proj" anywhere in the name.
在整个名字里找“mlp”“q_proj”“k_proj”这些字串。

symptom: A head called mlp_head stays as it was.
症状：名叫 mlp_head 的输出层也被冻结。

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
        elif ("mlp" in name) if which == "mlp" else ("q_proj" in name or "k_proj" in name):
            layer.weight.requires_grad = False
        else:
            continue
        found.append(f"{name}.weight")
    return found
