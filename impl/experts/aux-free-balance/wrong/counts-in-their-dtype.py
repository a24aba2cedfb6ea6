"""Takes the mean of floating counts in their own dtype.
浮点计数直接用自己的 dtype 求均值。

symptom: float16 counts overflow: every expert goes up.
症状：float16 计数溢出，所有专家都往上走。

cards: prec-07
rung: hardened
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def update_bias(bias: Tensor, counts: Tensor, gamma: float) -> Tensor:
    load = counts if counts.is_floating_point() else counts.double()  # (E,)
    error = load.sum() / load.numel() - load  # (E,), positive where an expert has too little
    wide = torch.promote_types(bias.dtype, torch.float32)
    return (bias.to(wide) + gamma * error.sign().to(wide)).to(bias.dtype)
