"""Takes one root mean square for the whole tensor.
整个张量只算一个均方根。

symptom: A token depends on its neighbours.
症状：一个 token 的结果取决于旁边的 token。

cards: norm-06
rung: solved
"""

import torch


def rms_norm(x, weight, eps=1e-6):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    scale = torch.rsqrt(y.pow(2).mean() + eps)
    return (y * scale).to(x.dtype) * weight
