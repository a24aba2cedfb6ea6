"""An autograd function: logaddexp forward, −β·σ(−βm)/B backward."""

import torch


class PairLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, margin, beta):
        x = beta * margin
        ctx.slope = -beta * torch.sigmoid(-x) / margin.numel()
        return torch.logaddexp(torch.zeros_like(x), -x).mean()

    @staticmethod
    def backward(ctx, upstream):
        return upstream * ctx.slope, None


def dpo_loss(pc, pr, rc, rr, beta):
    wide = torch.promote_types(pc.dtype, torch.float32)
    reference = rc.detach().to(wide) - rr.detach().to(wide)
    return PairLoss.apply(pc.to(wide) - pr.to(wide) - reference, beta).to(pc.dtype)
