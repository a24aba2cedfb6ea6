"""The minimum by cases of the advantage's sign, masks by torch.where, the variance by hand."""

import torch


def grpo(logp, old_logp, ref_logp, rewards, mask, clip, kl_coef, adv_eps=1e-4):
    wide = torch.float64 if logp.dtype == torch.float64 else torch.float32
    on = mask.bool()
    zero = torch.zeros((), dtype=wide, device=logp.device)
    new = torch.where(on, logp.to(wide), zero)
    behind = torch.where(on, old_logp.to(wide), zero).detach()
    anchor = torch.where(on, ref_logp.to(wide), zero).detach()
    r = rewards.to(wide)
    centred = r - r.sum(1, keepdim=True) / r.shape[1]
    A = centred / (centred.pow(2).mean(1, keepdim=True).sqrt() + adv_eps)
    A = A.unsqueeze(2).expand_as(new)
    rho = torch.exp(new - behind)
    capped = torch.where(A > 0, rho.clamp(max=1 + clip), rho.clamp(min=1 - clip))
    d = anchor - new
    per_token = torch.where(on, capped * A - kl_coef * (torch.expm1(d) - d), zero)
    count = on.sum(2)
    per_answer = per_token.sum(2) / torch.where(count > 0, count, torch.ones_like(count))
    return (-per_answer.sum() / per_answer.numel()).to(logp.dtype)
