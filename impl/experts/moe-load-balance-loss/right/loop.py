"""A loop over the experts."""

import torch


def switch_aux_loss(probs, idx, alpha):
    wide = torch.promote_types(probs.dtype, torch.float32)
    experts = probs.shape[1]
    total = torch.zeros((), dtype=wide, device=probs.device)
    for e in range(experts):
        share = (idx == e).to(wide).sum() / idx.numel()
        total = total + share * probs[:, e].to(wide).mean()
    return (experts * alpha * total).to(probs.dtype)
