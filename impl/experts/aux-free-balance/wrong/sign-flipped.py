"""Raises the experts that have too much.
给负载偏高的专家加分。

symptom: Load runs away to a few experts.
症状：负载越来越集中到少数专家。

cards: moe-13, moe-10
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def update_bias(bias: Tensor, counts: Tensor, gamma: float) -> Tensor:
    load = counts.double()  # (E,)
    error = load - load.mean()  # (E,), positive where an expert has too little
    wide = torch.promote_types(bias.dtype, torch.float32)
    return (bias.to(wide) + gamma * error.sign().to(wide)).to(bias.dtype)
