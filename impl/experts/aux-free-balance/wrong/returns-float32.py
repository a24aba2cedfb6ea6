"""Returns float32 for a 16-bit bias.
16 位的 bias 返回了 float32。

symptom: Another dtype than the bias has.
症状：dtype 与 bias 不同。

cards: prec-07
rung: hardened
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def update_bias(bias: Tensor, counts: Tensor, gamma: float) -> Tensor:
    load = counts.double()  # (E,)
    error = load.mean() - load  # (E,), positive where an expert has too little
    wide = torch.promote_types(bias.dtype, torch.float32)
    return (bias.to(wide) + gamma * error.sign().to(wide))
