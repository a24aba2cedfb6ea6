"""All ratios at once, the accepted prefix by `cumprod`, the draw by the cumulated row."""

from __future__ import annotations

import torch
from torch import Tensor


def spec_step(target_probs, draft_probs, draft_tokens, generator):
    n = len(draft_tokens)
    p = target_probs.to(torch.float64)
    q = draft_probs.to(torch.float64)
    at = draft_tokens.reshape(-1, 1)
    ratio = p[:n].gather(1, at)[:, 0] / q.gather(1, at)[:, 0]
    u = torch.rand(n + 1, generator=generator, dtype=torch.float64)
    ok = u[:n] < ratio
    a = int(ok.long().cumprod(0).sum())
    row = p[n] if a == n else torch.relu(p[a] - q[a])
    c = row.cumsum(0)
    k = int((c <= u[n] * c[-1]).sum())
    return a, min(k, len(row) - 1)
