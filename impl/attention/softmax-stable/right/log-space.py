"""exp(x − log Σ exp x), log-sum-exp written out."""
import torch


def softmax(x, dim=-1):
    wide = x if x.dtype in (torch.float32, torch.float64) else x.to(torch.float32)
    alive = wide != float("-inf")
    some = alive.any(dim=dim, keepdim=True)
    peak = torch.where(some, wide.max(dim=dim, keepdim=True).values, torch.zeros_like(wide[:0].sum())).detach()
    shifted = torch.where(alive, wide - peak, torch.zeros_like(wide))
    total = (shifted.exp() * alive).sum(dim=dim, keepdim=True)
    log_total = torch.where(some, total, torch.ones_like(total)).log()
    return ((shifted - log_total).exp() * alive).type_as(x)
