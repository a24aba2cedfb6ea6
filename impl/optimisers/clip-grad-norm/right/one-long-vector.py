"""All gradients flattened into one vector, shortened and split again."""

import torch


def clip_grad_norm(grads, max_norm):
    flat = torch.cat([g.detach().double().flatten() for g in grads])
    length = flat.dot(flat) ** 0.5
    if torch.isfinite(length):
        flat = flat * torch.minimum(max_norm / (length + 1e-6), torch.ones_like(length))
    parts = flat.split([g.numel() for g in grads])
    clipped = [part.reshape(g.shape).to(g.dtype) for part, g in zip(parts, grads, strict=True)]
    wide = torch.float64 if any(g.dtype == torch.float64 for g in grads) else torch.float32
    return clipped, length.to(wide)
