"""A parametrization with a mask over the whole weight; names by named_parameters."""

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


def wanted(name, which):
    parts = name.split(".")
    if parts[-1] != "weight":
        return False
    return "mlp" in parts[:-2] if which == "mlp" else parts[-2:-1][0] in {"q_proj", "k_proj", "c_attn"}


def freeze_components(model, which):
    linears = {f"{n}.weight": m for n, m in model.named_modules() if isinstance(m, nn.Linear)}
    found = [name for name, _ in model.named_parameters() if name in linears and wanted(name, which)]
    for name in found:
        layer = linears[name]
        if name.endswith("c_attn.weight") and which == "qk":
            row = torch.arange(layer.out_features, device=layer.weight.device)
            trains = (3 * row >= 2 * layer.out_features)[:, None]
            parametrize.register_parametrization(layer, "weight", Masked(layer.weight.detach().clone(), trains))
        else:
            layer.weight.requires_grad = False
    return found
