"""Keeps one buffer for the mask of each shape and draws into it again.
每种形状只留一块掩码缓冲区，下次直接往里重抽。

symptom: Two layers before one backward pass: the first gets the gradient of the second one's mask.
症状：两层前向之后再反向：第一层用上了第二层的掩码求梯度。

cards: mask-12
rung: solved
"""
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
