"""Multiplies with the mask after exp.
先取 exp，再乘 mask。

symptom: NaN gradients where a masked ratio overflows.
症状：被屏蔽处的比值一溢出，梯度就是 NaN。

cards: align-27
rung: hardened
"""

import torch


def policy_loss(logp, old_logp, adv, mask, ratio="token", clip_low=0.2, clip_high=0.2, agg="token", cispo=False, max_len=None):
    wide = torch.promote_types(logp.dtype, torch.float32)
    keep = mask.bool()
    zero = torch.zeros((), dtype=wide, device=logp.device)
    lp = logp.to(wide)
    old = old_logp.to(wide)
    count = keep.sum(1)
    log_ratio = lp - old
    if ratio == "sequence":
        log_ratio = log_ratio * keep
    if ratio == "sequence":
        log_ratio = (log_ratio.sum(1) / count.clamp(min=1))[:, None].expand_as(lp)
    r = log_ratio.exp()
    A = adv.to(wide)[:, None]
    if cispo:
        weight = r.clamp(max=1 + clip_high).detach()
        gain = weight * A * lp
    else:
        gain = torch.min(r * A, r.clamp(1 - clip_low, 1 + clip_high) * A)
    gain = gain * keep
    if agg == "token":
        loss = gain.sum() / count.sum().clamp(min=1)
    elif agg == "sequence":
        loss = (gain.sum(1) / count.clamp(min=1)).mean()
    else:
        loss = gain.sum() / (logp.shape[0] * (max_len or logp.shape[1]))
    return -loss.to(logp.dtype)
