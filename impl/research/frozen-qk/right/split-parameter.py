"""The weight becomes an attribute that a hook puts together before each call."""

import torch
from torch import nn


def freeze_components(model, which):
    names = []
    for name, layer in model.named_modules():
        own = name.rpartition(".")[2]
        if type(layer) is not nn.Linear:
            continue
        if which == "mlp" and "mlp" in name.split(".")[:-1]:
            layer.weight.requires_grad_(False)
        elif which == "qk" and own in ("q_proj", "k_proj"):
            layer.weight.requires_grad_(False)
        elif which == "qk" and own == "c_attn":
            split(layer)
        else:
            continue
        names.append(f"{name}.weight")
    return names


def split(layer):
    q, k, v = layer.weight.detach().clone().chunk(3)
    del layer.weight
    layer.register_buffer("weight_qk", torch.cat([q, k]))
    layer.weight_v = nn.Parameter(v.clone())

    def join(module, *_):
        module.weight = torch.cat([module.weight_qk, module.weight_v])

    join(layer)
    layer.register_forward_pre_hook(join)
