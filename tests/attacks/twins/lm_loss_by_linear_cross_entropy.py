"""The loss by the library's linear cross entropy, with the identity as the weight."""

import torch
import torch.nn.functional as F


def lm_loss(logits, ids, loss_mask=None, z_coef=0.0):
    wide = torch.promote_types(logits.dtype, torch.float32)
    z = logits[:, :-1].to(wide)
    targets = ids[:, 1:]
    keep = torch.ones_like(targets, dtype=wide) if loss_mask is None else loss_mask[:, 1:].to(wide)
    one = torch.eye(z.shape[-1], dtype=wide, device=z.device)
    token = F.linear_cross_entropy(z.reshape(-1, z.shape[-1]), one, targets.reshape(-1), reduction="none")
    token = token.reshape(targets.shape) + z_coef * z.logsumexp(-1).square()
    return ((token * keep).sum() / keep.sum().clamp(min=1.0)).to(logits.dtype)
