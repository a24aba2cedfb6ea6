"""Merges two at a time, as ring attention does: logaddexp, and a sigmoid of the difference."""
import torch


def pair(a, s, b, t):
    none = s.isneginf() & t.isneginf()
    s, t = s.masked_fill(none, 0.0), t.masked_fill(none, -torch.inf)
    share = torch.sigmoid(t - s)[..., None]
    merged = torch.where(share == 0, a, torch.where(share == 1, b, a * (1 - share) + b * share))
    return merged, torch.logaddexp(s, t).masked_fill(none, -torch.inf)


def merge_partials(outs, lses):
    wide = torch.promote_types(torch.promote_types(outs.dtype, lses.dtype), torch.float32)
    out, lse = torch.zeros_like(outs[0], dtype=wide), torch.full_like(lses[0], -torch.inf, dtype=wide)
    for o, s in zip(outs.to(wide), lses.to(wide)):
        out, lse = pair(out, lse, o, s)
    return out.to(outs.dtype), lse.to(lses.dtype)
