"""Lets autograd watch.
没有避开 autograd。

symptom: The graphs of all steps pile up in the bias.
症状：每一步的计算图都堆在 bias 上。

cards: moe-13
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def update_bias(bias: Tensor, counts: Tensor, gamma: float) -> Tensor:
    load = counts.double()  # (E,)
    error = load.mean() - load  # (E,), positive where an expert has too little
    wide = torch.promote_types(bias.dtype, torch.float32)
    return (bias.to(wide) + gamma * error.sign().to(wide)).to(bias.dtype)
