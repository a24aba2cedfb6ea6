"""Computes 16-bit inputs in 16 bits.
16 位输入就在 16 位里算。

symptom: In bfloat16 drifts below 0.4 % vanish: the ratio is 1.
症状：bfloat16 下小于 0.4 % 的偏差消失了：比值就是 1。

cards: prec-07
rung: hardened
"""

import torch


def policy_loss(logp, old_logp, adv, mask, ratio="token", clip_low=0.2, clip_high=0.2, agg="token", cispo=False, max_len=None):
    wide = logp.dtype
    keep = mask.bool()
    zero = torch.zeros((), dtype=wide, device=logp.device)
    lp = torch.where(keep, logp.to(wide), zero)
    old = torch.where(keep, old_logp.to(wide), zero)
    count = keep.sum(1)
    log_ratio = lp - old
    if ratio == "sequence":
        log_ratio = (log_ratio.sum(1) / count.clamp(min=1))[:, None].expand_as(lp)
    r = log_ratio.exp()
    A = adv.to(wide)[:, None]
    if cispo:
        weight = r.clamp(max=1 + clip_high).detach()
        gain = weight * A * lp
    else:
        gain = torch.min(r * A, r.clamp(1 - clip_low, 1 + clip_high) * A)
    gain = torch.where(keep, gain, zero)
    if agg == "token":
        loss = gain.sum() / count.sum().clamp(min=1)
    elif agg == "sequence":
        loss = (gain.sum(1) / count.clamp(min=1)).mean()
    else:
        loss = gain.sum() / (logp.shape[0] * (max_len or logp.shape[1]))
    return -loss.to(logp.dtype)
