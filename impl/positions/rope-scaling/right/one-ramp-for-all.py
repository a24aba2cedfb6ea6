"""Every type is a share of division by s for each pair; frequencies in float32."""

import math

import torch


def rope_inv_freq(d, base, scaling):
    s, pair = scaling["factor"], torch.arange(d // 2)
    f = 1.0 / (base ** (2 * pair.float() / d))
    match scaling["type"]:
        case "linear":
            return f / s, 1.0
        case "ntk":
            return f / s ** (pair / (d / 2 - 1)), 1.0
    turns = [scaling.get("beta_fast", 32), scaling.get("beta_slow", 1)]
    ends = [math.log(scaling["original_max_position"] / t / math.tau) / math.log(base) * d / 2 for t in turns]
    lo, hi = max(math.floor(ends[0]), 0), min(math.ceil(ends[1]), d - 1)
    divided = torch.minimum(torch.maximum((pair - lo) / (hi - lo), torch.zeros(())), torch.ones(()))
    return torch.lerp(f, f / s, divided), max(1.0, 0.1 * math.log(s) + 1)
