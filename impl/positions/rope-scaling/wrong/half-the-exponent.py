"""Uses the exponent i/d where 2i/d belongs.
指数用 i/d，而不是 2i/d。

symptom: The slowest pair turns about √base times too fast.
症状：最慢的一对快了约 √base 倍。

cards: pos-14
rung: solved
"""

import math

import torch


def frequencies(d, base):
    return base ** -(torch.arange(d // 2, dtype=torch.float64) / d)


def rope_inv_freq(d, base, scaling):
    s = scaling["factor"]
    f = frequencies(d, base)
    if scaling["type"] == "linear":
        return (f / s).float(), 1.0
    if scaling["type"] == "ntk":
        return frequencies(d, base * s ** (d / (d - 2))).float(), 1.0
    L = scaling["original_max_position"]
    fast, slow = scaling.get("beta_fast", 32), scaling.get("beta_slow", 1)

    def dim(beta):
        return d * math.log(L / (2 * math.pi * beta)) / (2 * math.log(base))

    lo, hi = max(math.floor(dim(fast)), 0), min(math.ceil(dim(slow)), d - 1)
    ramp = ((torch.arange(d // 2) - lo) / (hi - lo)).clamp(0, 1)
    inv = (1 - ramp) * f + ramp * f / s
    return inv.float(), (0.1 * math.log(s) + 1 if s > 1 else 1.0)
