"""Every token has the weight 1/(B·G·its answer's tokens); losses instead of gains, the larger of two."""

import torch


def grpo(logp, old_logp, ref_logp, rewards, mask, clip, kl_coef, adv_eps=1e-4):
    up = torch.promote_types(logp.dtype, torch.float32)
    B, G = rewards.shape
    m = mask.to(up)
    weight = m / (B * G * m.sum(-1, keepdim=True).clamp(min=1.0))
    hidden = m == 0
    x = (logp.to(up) - old_logp.to(up)).masked_fill(hidden, 0.0)
    d = (ref_logp.to(up) - logp.to(up)).masked_fill(hidden, 0.0)
    with torch.no_grad():
        variance, mean = torch.var_mean(rewards.to(up), dim=1, keepdim=True, unbiased=False)
        adv = ((rewards.to(up) - mean) / (variance.sqrt() + adv_eps)).reshape(B, G, 1)
    ratio = x.exp()
    surrogate = torch.max(-adv * ratio, -adv * torch.clip(ratio, 1 - clip, 1 + clip))
    kl = d.exp() - 1 - d
    return torch.einsum("bgt,bgt->", weight, surrogate + kl_coef * kl).to(logp.dtype)
