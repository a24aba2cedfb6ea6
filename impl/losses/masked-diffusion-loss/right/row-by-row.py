"""Row by row with one-hot targets."""

import torch


def mdlm_loss(logits, ids, mask, t):
    wide = torch.promote_types(torch.float32, logits.dtype)
    total = logits.new_zeros((), dtype=wide)
    for row, target, hidden, rate in zip(logits, ids, mask, t):
        z = row.to(wide)
        z = z - z.detach().amax(-1, keepdim=True)
        lse = z.exp().sum(-1).log()
        hot = torch.zeros_like(z).scatter(-1, target[:, None], 1.0)
        nll = lse - (z * hot).sum(-1)
        count = torch.where(hidden, nll, 0.0).sum()
        scale = torch.where(hidden.any(), 1 / rate.to(wide), 0.0)
        total = total + count * scale
    return (total / mask.numel()).to(logits.dtype)
