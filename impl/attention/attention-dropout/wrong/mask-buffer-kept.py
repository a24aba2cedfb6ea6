"""Keeps one buffer for the mask of each shape and draws into it again."""
import torch

buffers = {}


class Apply(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weights, keep, growth):
        ctx.keep, ctx.growth = keep, growth
        return (weights * growth).masked_fill(~keep, 0.0)

    @staticmethod
    def backward(ctx, gradient):
        return (gradient * ctx.growth).masked_fill(~ctx.keep, 0.0), None, None


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0.0:
        return weights
    if p == 1.0:
        return weights * 0.0
    key = weights.shape, weights.device
    if key not in buffers:
        buffers[key] = torch.empty(weights.shape, dtype=torch.bool, device=weights.device)
    keep = buffers[key].bernoulli_(1.0 - p, generator=generator)
    return Apply.apply(weights, keep, 1.0 / (1.0 - p))
