"""log_softmax for the targets, flattened, and logsumexp for the z-loss."""

import torch


def lm_loss(logits, ids, loss_mask=None, z_coef=0.0):
    V = logits.shape[-1]
    z = logits[:, :-1, :].reshape(-1, V)
    z = z.float() if z.element_size() == 2 else z
    y = ids[:, 1:].reshape(-1)
    keep = torch.ones(y.shape, dtype=torch.bool, device=y.device)
    if loss_mask is not None:
        keep = loss_mask[:, 1:].reshape(-1) != 0
    nll = -torch.log_softmax(z, dim=-1).gather(1, y.unsqueeze(1)).squeeze(1)
    penalty = torch.logsumexp(z, dim=-1) ** 2
    count = keep.sum().clamp(min=1)
    loss = torch.where(keep, nll + z_coef * penalty, torch.zeros_like(nll)).sum() / count
    return loss.to(logits.dtype)
