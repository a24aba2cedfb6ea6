"""Adds eps outside the root.
eps 加在根号外面。

symptom: Visible at a tiny scale or a large eps.
症状：量级极小或 eps 很大时才看得出。

cards: norm-03
rung: solved
"""

import torch


def rms_norm(x, weight, eps=1e-6):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    scale = 1 / (y.pow(2).mean(-1, keepdim=True).sqrt() + eps)
    return (y * scale).to(x.dtype) * weight
