"""Walks through the modules, embeddings first, and remembers what it has seen; four groups, empty ones among them."""

from torch import nn


def lora_plus_groups(model, lr, ratio=16.0, weight_decay=0.0, lr_embedding=None):
    found = {"A": [], "B": [], "embedding": [], "rest": []}
    seen = set()
    modules = sorted(model.named_modules(), key=lambda named: not isinstance(named[1], nn.Embedding))
    for path, module in modules:
        for leaf, parameter in module.named_parameters(recurse=False):
            if parameter in seen or not parameter.requires_grad:
                continue
            seen.add(parameter)
            parts = path.split(".") + [leaf]
            if parts.count("lora_B"):
                kind = "B"
            elif parts.count("lora_A"):
                kind = "A"
            else:
                kind = "embedding" if isinstance(module, nn.Embedding) else "rest"
            found[kind].append(parameter)
    rates = {"A": lr, "B": lr * ratio, "embedding": lr_embedding if lr_embedding is not None else lr, "rest": lr}
    return [dict(params=found[kind], lr=rates[kind], weight_decay=weight_decay) for kind in found]
