"""Casts back before gamma and beta.
没乘 gamma、加 beta 就转回半精度。

symptom: In bfloat16 the output is off by an ulp or two.
症状：bfloat16 下输出差一两个 ulp。

cards: norm-03
rung: hardened
"""

import torch
from torch import Tensor


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float = 1e-5) -> Tensor:
    y = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    y = y - y.mean(-1, keepdim=True)
    y = y / torch.sqrt(y.square().mean(-1, keepdim=True) + eps)
    return y.to(x.dtype) * gamma + beta
