"""logsumexp over (0, −margin)."""

import torch
from torch import Tensor


def dpo_loss(pc: Tensor, pr: Tensor, rc: Tensor, rr: Tensor, beta: float) -> Tensor:
    out_dtype = pc.dtype
    pc, pr, rc, rr = (t.to(torch.promote_types(t.dtype, torch.float32)) for t in (pc, pr, rc.detach(), rr.detach()))
    wrong = beta * ((rc - rr) - (pc - pr))
    pair = torch.stack([torch.zeros_like(wrong), wrong], dim=-1)
    total = torch.logsumexp(pair, dim=-1).sum()
    return (total / wrong.numel()).to(out_dtype)
