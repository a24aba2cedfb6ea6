"""Does not cast back.
没有转回原来的 dtype。

symptom: A 16-bit model goes on in float32.
症状：16 位模型从此变成 float32。

cards: prec-07
rung: hardened
"""

import torch


def rms_norm(x, weight, eps=1e-6):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    scale = torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + eps)
    return y * scale * weight
