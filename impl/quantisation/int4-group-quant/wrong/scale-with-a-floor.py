"""Clamps the scale at 10⁻⁵.
scale 截断到至少 10⁻⁵。

symptom: Groups of tiny weights come back as zeros.
症状：权重很小的组还原出来全是 0。

cards: prec-11
rung: solved
"""

import torch
from torch import Tensor


def quantize_int4(w: Tensor, group: int) -> tuple[Tensor, Tensor]:
    O, I = w.shape
    if I % 2 != 0:
        raise ValueError(f"the number of columns {I} is odd")
    if group < 1 or I % group != 0:
        raise ValueError(f"{I} columns are no multiple of the group {group}")
    w = w.detach()
    if w.dtype != torch.float64:
        w = w.to(torch.float32)
    wg = w.reshape(O, I // group, group)
    scales = (wg.abs().amax(dim=-1) / 7.0).clamp(min=1e-5)
    safe = torch.where(scales > 0, scales, torch.ones_like(scales))
    q = wg.to(torch.float64) / safe.to(torch.float64)[..., None]
    q = torch.round(q).clamp(-7, 7).to(torch.int16).reshape(O, I)
    low = q[:, 0::2] & 0xF
    high = q[:, 1::2] & 0xF
    packed = (low | (high << 4)).to(torch.uint8)
    return packed, scales
