"""Old log-probabilities and advantages detached; masked places replaced before anything is exponentiated."""
from typing import Literal

import torch
from torch import Tensor


def policy_loss(
    logp: Tensor,
    old_logp: Tensor,
    adv: Tensor,
    mask: Tensor,
    ratio: Literal["token", "sequence"] = "token",
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    agg: Literal["token", "sequence", "const"] = "token",
    cispo: bool = False,
    max_len: int | None = None,
) -> Tensor:
    N, T = logp.shape
    ct = torch.promote_types(logp.dtype, torch.float32)
    m = mask != 0
    zero = torch.zeros((), dtype=ct, device=logp.device)
    lp = torch.where(m, logp.to(ct), zero)
    old = torch.where(m, old_logp.detach().to(ct), zero)
    A = adv.detach().to(ct)[:, None]
    n_row = m.sum(1)
    n_safe = n_row.clamp(min=1).to(ct)

    diff = lp - old
    if ratio == "sequence":
        diff = (diff.sum(1) / n_safe)[:, None].expand(N, T)
    top = 709.0 if ct == torch.float64 else 88.0  # exp stays finite, so no 0 * inf behind the clip
    r = diff.clamp(max=top).exp()

    if cispo:
        weight = r.clamp(max=1 + clip_high).detach()
        gain = weight * A * lp
    else:
        gain = torch.minimum(r * A, r.clamp(1 - clip_low, 1 + clip_high) * A)
    gain = torch.where(m, gain, zero)

    if agg == "token":
        total = gain.sum() / n_row.sum().clamp(min=1).to(ct)
    elif agg == "sequence":
        total = (gain.sum(1) / n_safe).sum() / max(N, 1)
    else:
        length = T if max_len is None else max_len
        total = gain.sum() / max(N * length, 1)
    return (-total).to(logp.dtype)
