"""Moves the busiest and the idlest expert alone.
只动最忙和最闲的专家。

symptom: Balance takes a step for every expert in turn.
症状：要一个专家一个专家地轮，才能均衡。

cards: moe-10
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def update_bias(bias: Tensor, counts: Tensor, gamma: float) -> Tensor:
    load = counts.double()  # (E,)
    error = load.mean() - load  # (E,), positive where an expert has too little
    wide = torch.promote_types(bias.dtype, torch.float32)
    return (bias.to(wide) + gamma * (error.sign() * ((load == load.max()) | (load == load.min()))).to(wide)).to(bias.dtype)
