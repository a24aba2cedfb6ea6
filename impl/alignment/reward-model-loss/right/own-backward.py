"""An autograd function: max(−x, 0) + log1p(e^−|x|) forward, −σ(−x)/B backward."""

import torch


class Preference(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return ((-x).clamp(min=0) + torch.log1p(torch.exp(-x.abs()))).mean()

    @staticmethod
    def backward(ctx, upstream):
        (x,) = ctx.saved_tensors
        return -upstream * torch.sigmoid(-x) / x.shape[0]


def rm_loss(chosen, rejected, margin=None):
    c, r = (t.float() if t.element_size() == 2 else t for t in (chosen, rejected))
    if margin is not None:
        r = r + margin.to(r.dtype)
    return Preference.apply(c - r).to(chosen.dtype)
