"""Implicit rewards of both answers, then logsigmoid of their difference."""

import torch
import torch.nn.functional as F


def dpo_loss(pc, pr, rc, rr, beta):
    up = torch.float64 if pc.dtype == torch.float64 else torch.float32
    chosen = beta * (pc.to(up) - rc.detach().to(up))
    rejected = beta * (pr.to(up) - rr.detach().to(up))
    return -F.logsigmoid(chosen - rejected).mean().to(pc.dtype)
