"""Keeps one mask buffer per shape and redraws into it.
每种形状只留一块掩码缓冲区，反复重抽。

symptom: Two layers before one backward: the first gets the second's mask.
症状：两层前向后再反向：第一层用了第二层的掩码。

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
