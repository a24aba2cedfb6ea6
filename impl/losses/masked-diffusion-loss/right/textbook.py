"""F.cross_entropy without reduction, rates made safe first."""

import torch
import torch.nn.functional as F


def mdlm_loss(logits, ids, mask, t):
    x = logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits
    nll = F.cross_entropy(x.transpose(1, 2), ids, reduction="none")
    safe = t.to(x.dtype).where(t > 0, torch.ones_like(t, dtype=x.dtype))
    return torch.where(mask, nll / safe[:, None], torch.zeros_like(nll)).mean().to(logits.dtype)
