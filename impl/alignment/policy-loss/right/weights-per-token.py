"""One weight for each token carries mask and divisor; the loss is a single product sum."""

import torch


def policy_loss(logp, old_logp, adv, mask, ratio="token", clip_low=0.2, clip_high=0.2, agg="token", cispo=False, max_len=None):
    x = logp.float() if logp.dtype in (torch.float16, torch.bfloat16) else logp
    old = old_logp.to(x.dtype)
    m = (mask != 0).to(x.dtype)
    x, old = x.where(m > 0, torch.zeros_like(x)), old.where(m > 0, torch.zeros_like(old))
    per_row = m.sum(1, keepdim=True)
    if agg == "token":
        weight = m / per_row.sum().clamp(min=1)
    elif agg == "sequence":
        weight = m / per_row.clamp(min=1) / len(m)
    else:
        weight = m / (len(m) * (max_len if max_len is not None else m.shape[1]))
    d = x - old
    if ratio == "sequence":
        d = torch.einsum("nt,nt->n", d, m / per_row.clamp(min=1)).unsqueeze(1)
    r = d.exp()
    a = adv.to(x.dtype).unsqueeze(1)
    if cispo:
        surrogate = -torch.minimum(r, torch.full_like(r, 1 + clip_high)).detach() * a * x
    else:
        surrogate = torch.maximum(-r * a, -r.clamp(min=1 - clip_low, max=1 + clip_high) * a)
    return (surrogate * weight).sum().to(logp.dtype)
