"""A group for every parameter."""

from torch import nn


def lora_plus_groups(model, lr, ratio=16.0, weight_decay=0.0, lr_embedding=None):
    tables = [m.weight for m in model.modules() if isinstance(m, nn.Embedding)]

    def rate(name, parameter):
        where = f".{name}."
        if ".lora_B." in where:
            return lr * ratio
        if ".lora_A." not in where and any(parameter is table for table in tables):
            return lr if lr_embedding is None else lr_embedding
        return lr

    return [
        {"params": [p], "lr": rate(name, p), "weight_decay": weight_decay}
        for name, p in model.named_parameters()
        if p.requires_grad
    ]
