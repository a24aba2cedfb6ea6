"""Takes eps for the smallest root allowed.
把 eps 当成均方根的下限。

symptom: Right for ordinary rows only.
症状：普通的行没事，量级小的行就错。

cards: norm-03
rung: solved
"""

import torch


def rms_norm(x, weight, eps=1e-6):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    scale = 1 / y.pow(2).mean(-1, keepdim=True).sqrt().clamp(min=eps)
    return (y * scale).to(x.dtype) * weight
