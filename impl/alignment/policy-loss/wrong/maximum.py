"""Takes the maximum: the optimistic bound.
取了 max：乐观的界。

symptom: The clip never holds anything back.
症状：裁剪完全不起作用。

cards: align-03
rung: solved
"""

import torch


def policy_loss(logp, old_logp, adv, mask, ratio="token", clip_low=0.2, clip_high=0.2, agg="token", cispo=False, max_len=None):
    wide = torch.promote_types(logp.dtype, torch.float32)
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
        gain = torch.max(r * A, r.clamp(1 - clip_low, 1 + clip_high) * A)
    gain = torch.where(keep, gain, zero)
    if agg == "token":
        loss = gain.sum() / count.sum().clamp(min=1)
    elif agg == "sequence":
        loss = (gain.sum(1) / count.clamp(min=1)).mean()
    else:
        loss = gain.sum() / (logp.shape[0] * (max_len or logp.shape[1]))
    return -loss.to(logp.dtype)
