"""Returns the update instead of the new bias.
返回的是更新量，不是新的 bias。

symptom: Only the last batch counts.
症状：只有最后一个批次起作用。

cards: moe-13
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
    return (0.0 * bias.to(wide) + gamma * error.sign().to(wide)).to(bias.dtype)
