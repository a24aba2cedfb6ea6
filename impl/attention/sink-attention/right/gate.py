"""Ordinary attention times the sigmoid of lse − sink."""

import torch


def sink_attention(q, k, v, sink, window=None):
    (B, H, T, d), S = q.shape, k.shape[2]
    if T > S:
        raise ValueError("S must be at least T")
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    repeat = H // k.shape[1]
    keys, values = (t.to(wide).repeat_interleave(repeat, dim=1) for t in (k, v))
    s = torch.einsum("bhtd,bhsd->bhts", q.to(wide), keys) * d**-0.5
    visible = torch.ones(T, S, dtype=torch.bool, device=q.device).tril(S - T)
    if window is not None:
        visible = visible.triu(S - T - window + 1)
    s = torch.where(visible, s, -torch.inf)
    lse = torch.logsumexp(s, dim=-1)
    gate = torch.sigmoid(lse - sink.to(wide)[:, None])
    return (torch.softmax(s, -1) @ values * gate[..., None]).to(q.dtype)
