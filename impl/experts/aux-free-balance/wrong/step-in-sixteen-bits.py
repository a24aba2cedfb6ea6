"""Rounds γ to the dtype of the bias before it adds.
γ 先舍入到 bias 的 dtype，再相加。

symptom: bfloat16: the sum of two rounded numbers misses in the last bit.
症状：bfloat16 下，两个舍入过的数相加，末位不对。

cards: moe-13, prec-07
rung: hardened
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def update_bias(bias: Tensor, counts: Tensor, gamma: float) -> Tensor:
    load = counts.double()  # (E,)
    error = load.mean() - load  # (E,), positive where an expert has too little
    return bias + gamma * error.sign().to(bias.dtype)
