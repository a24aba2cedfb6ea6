"""Only rows that predict a target are looked at; one-hot products pick the logits, the maximum is taken out by hand."""

import torch


def lm_loss(logits, ids, loss_mask=None, z_coef=0.0):
    wide = torch.promote_types(logits.dtype, torch.float32)
    B, T, V = logits.shape
    weight = logits.new_ones((B, T), dtype=wide) if loss_mask is None else loss_mask.to(wide)
    weight = torch.cat([weight[:, 1:], torch.zeros_like(weight[:, :1])], dim=1)
    following = torch.cat([ids[:, 1:], torch.zeros_like(ids[:, :1])], dim=1)
    z = logits.to(wide)
    top = z.amax(dim=-1, keepdim=True).detach()
    lse = (z - top).exp().sum(dim=-1).log() + top[..., 0]
    hot = following[..., None] == torch.arange(V, device=ids.device)
    picked = torch.where(hot, z, torch.zeros_like(z)).sum(dim=-1)
    total = torch.einsum("bt,bt->", lse - picked + z_coef * lse * lse, weight)
    count = weight.sum()
    return (total / torch.where(count == 0, torch.ones_like(count), count)).to(logits.dtype)
