"""Compares with the median.
与中位数比较。

symptom: With a few busy experts hardly anything rises.
症状：少数专家很忙时，几乎没有专家上升。

cards: moe-10
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def update_bias(bias: Tensor, counts: Tensor, gamma: float) -> Tensor:
    load = counts.double()  # (E,)
    error = load.median() - load  # (E,), positive where an expert has too little
    wide = torch.promote_types(bias.dtype, torch.float32)
    return (bias.to(wide) + gamma * error.sign().to(wide)).to(bias.dtype)
