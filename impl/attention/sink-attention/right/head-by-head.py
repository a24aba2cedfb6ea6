"""One head after another, over the keys of the window alone."""

import math

import torch


def sink_attention(q, k, v, sink, window=None):
    B, H, T, d = q.shape
    G, S = k.shape[1], k.shape[2]
    if S < T:
        raise ValueError(f"{S} keys for {T} queries")
    up = torch.promote_types(q.dtype, torch.float32)
    heads = []
    for h in range(H):
        g, rows = h // (H // G), []
        for i in range(T):
            last = i + S - T
            first = 0 if window is None else max(0, last - window + 1)
            key, value = k[:, g, first : last + 1].to(up), v[:, g, first : last + 1].to(up)
            s = (key * q[:, h, i, None].to(up)).sum(-1) / math.sqrt(d)
            total = torch.logaddexp(torch.logsumexp(s, -1), sink[h].to(up).expand(B))
            rows.append((torch.exp(s - total[:, None])[..., None] * value).sum(1))
        heads.append(torch.stack(rows, 1))
    return torch.stack(heads, 1).to(q.dtype)
