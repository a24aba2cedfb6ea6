"""An autograd function that keeps the mask."""
import torch


class Drop(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weights, mask, growth):
        ctx.save_for_backward(mask)
        ctx.growth = growth
        return torch.where(mask, weights * growth, torch.zeros_like(weights))

    @staticmethod
    def backward(ctx, gradient):
        (mask,) = ctx.saved_tensors
        return torch.where(mask, gradient * ctx.growth, torch.zeros_like(gradient)), None, None


def attention_dropout(weights, p, training, generator=None):
    if training and p > 0:
        mask = torch.rand(*weights.shape, generator=generator, device=weights.device).gt(p)
        return Drop.apply(weights, mask & (p < 1), 1 / (1 - p) if p < 1 else 0.0)
    return weights
