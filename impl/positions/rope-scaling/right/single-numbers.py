"""One pair after the other, with math alone."""

import math

import torch


def scaled(i, d, base, scaling):
    kind, s = scaling["type"], scaling["factor"]
    f = math.exp(-2 * i / d * math.log(base))
    if kind == "linear":
        return f / s
    if kind == "ntk":
        return f * s ** (-2 * i / (d - 2))
    context = scaling["original_max_position"]
    first, last = (
        d / 2 * math.log(context / (2 * math.pi * scaling.get(name, usual)), base)
        for name, usual in (("beta_fast", 32), ("beta_slow", 1))
    )
    first, last = max(int(first // 1), 0), min(-int(-last // 1), d - 1)
    if i <= first:
        return f
    if i >= last:
        return f / s
    return f * (last - i + (i - first) / s) / (last - first)


def rope_inv_freq(d, base, scaling):
    values = [scaled(i, d, base, scaling) for i in range(d // 2)]
    sharpened = scaling["type"] == "yarn" and scaling["factor"] > 1
    return torch.tensor(values, dtype=torch.float32), 1.0 + 0.1 * math.log(scaling["factor"]) * sharpened
