"""Draws integers and compares them with p in 2³⁰ths."""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not (training and p):
        return weights
    steps = 2**30
    draw = torch.randint(0, steps, weights.shape, generator=generator, device=weights.device)
    kept = (draw >= int(p * steps)).to(weights.dtype)
    return weights * kept * (0.0 if p == 1 else 1 / (1 - p))
