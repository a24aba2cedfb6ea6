"""A table of functions; the ramp from linspace, padded with its ends."""

import math

import torch


def plain(d, base):
    return torch.exp(torch.arange(d // 2, dtype=torch.float64) * (-2 * math.log(base) / d))


def linear(d, base, scaling):
    return plain(d, base) / scaling["factor"], 1.0


def ntk(d, base, scaling):
    return plain(d, base * math.pow(scaling["factor"], d / (d - 2))), 1.0


def yarn(d, base, scaling):
    s = scaling["factor"]
    turns = scaling["original_max_position"] / (2 * math.pi)
    options = {"beta_fast": 32, "beta_slow": 1} | scaling
    per_turn = d / (2 * math.log(base))
    lo = max(math.floor(per_turn * math.log(turns / options["beta_fast"])), 0)
    hi = min(math.ceil(per_turn * math.log(turns / options["beta_slow"])), d - 1)
    keep = torch.cat((torch.ones(lo), torch.linspace(1, 0, hi - lo + 1), torch.zeros(d)))[: d // 2]
    f = plain(d, base)
    return f * (keep + (1 - keep) / s), (1 + 0.1 * math.log(s)) if s > 1 else 1.0


def rope_inv_freq(d, base, scaling):
    inv, attn_scale = {"linear": linear, "ntk": ntk, "yarn": yarn}[scaling["type"]](d, base, scaling)
    return inv.to(torch.float32), attn_scale
