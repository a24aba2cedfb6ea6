"""A hook that puts the rows back before each call; a recursive walk."""

import torch
from torch import nn


def freeze_components(model, which):
    found = []
    walk(model, "", which, False, found)
    return found


def walk(module, prefix, which, in_mlp, found):
    for name, child in module.named_children():
        full = f"{prefix}{name}"
        if isinstance(child, nn.Linear):
            if (which == "mlp" and in_mlp) or (which == "qk" and name in ("q_proj", "k_proj")):
                child.weight.requires_grad_(False)
                found.append(full + ".weight")
            elif which == "qk" and name == "c_attn":
                hold(child, child.weight.shape[0] * 2 // 3)
                found.append(full + ".weight")
        walk(child, full + ".", which, in_mlp or name == "mlp", found)


def hold(layer, rows):
    kept = layer.weight.detach()[:rows].clone()

    def put_back(module, args):
        with torch.no_grad():
            module.weight[:rows].copy_(kept)

    layer.register_forward_pre_hook(put_back)
