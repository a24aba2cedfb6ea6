"""An autograd function: dx = p · (dp − Σ dp·p)."""
import torch


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        top = wide.max(dim, keepdim=True)[0]
        top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
        e = torch.exp(wide - top)
        p = torch.nan_to_num(e / e.sum(dim, keepdim=True), nan=0.0)
        ctx.save_for_backward(p)
        ctx.dim, ctx.dtype = dim, x.dtype
        return p.to(x.dtype)

    @staticmethod
    def backward(ctx, dp):
        (p,) = ctx.saved_tensors
        dp = dp.to(p.dtype)
        return (p * (dp - (p * dp).sum(ctx.dim, keepdim=True))).to(ctx.dtype), None


def softmax(x, dim: int = -1):
    return Softmax.apply(x, dim)
