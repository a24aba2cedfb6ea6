"""logsigmoid, with margins of zero where none are given."""

import torch
import torch.nn.functional as F


def rm_loss(chosen, rejected, margin=None):
    wide = torch.float64 if chosen.dtype == torch.float64 else torch.float32
    m = torch.zeros_like(chosen) if margin is None else margin
    return F.logsigmoid(chosen.to(wide) - rejected.to(wide) - m.to(wide)).mean().neg().to(chosen.dtype)
