"""Row by row, the answer's tokens alone; the clip by cases."""

import torch


def policy_loss(logp, old_logp, adv, mask, ratio="token", clip_low=0.2, clip_high=0.2, agg="token", cispo=False, max_len=None):
    N, T = logp.shape
    wide = torch.float64
    total, means, tokens = torch.zeros((), dtype=wide, device=logp.device), [], 0
    for n in range(N):
        counted = mask[n].bool()
        new = logp[n].to(wide).masked_fill(~counted, 0)
        gap = new - old_logp[n].to(wide).masked_fill(~counted, 0)
        size = counted.sum()
        if ratio == "sequence":
            gap = gap.sum() / size.clamp(min=1) + torch.zeros_like(gap)
        r, a = torch.exp(gap), adv[n].to(wide)
        if cispo:
            gain = torch.clamp(r.detach(), max=1 + clip_high) * a * new
        else:
            high, low = torch.clamp(r, max=1 + clip_high) * a, torch.clamp(r, min=1 - clip_low) * a
            gain = torch.where(a >= 0, high, low)
        gain = (gain * counted).sum()
        total, tokens = total + gain, tokens + size
        means.append(gain / size.clamp(min=1))
    loss = {
        "token": lambda: total / tokens.clamp(min=1),
        "sequence": lambda: torch.stack(means).mean(),
        "const": lambda: total / (N * (T if max_len is None else max_len)),
    }[agg]()
    return (-loss).to(logp.dtype)
