"""Uses 1e-6 whatever eps is given.
忽略传入的 eps，用 1e-6。

symptom: Models with another eps are slightly off.
症状：eps 不同的模型略有偏差。

cards: norm-03
rung: solved
"""

import torch


def rms_norm(x, weight, eps=1e-6):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    scale = torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
    return (y * scale).to(x.dtype) * weight
