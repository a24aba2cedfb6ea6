"""Clamps to the largest finite number.
截断到最大的有限数。

symptom: inf in, 3.39·10³⁸ out: an overflow is hidden.
症状：输入 inf，输出 3.39·10³⁸：溢出被掩盖了。

cards: prec-01
rung: solved
"""

import torch


def stochastic_round_bf16(x, generator=None):
    noise = torch.randint(0, 2**16, x.shape, generator=generator, dtype=torch.int32, device=x.device)
    bits = (x.view(torch.int32) + noise) & -(2**16)
    return torch.where(x.isfinite(), bits.view(torch.float32), x).clamp(-3.3895313892515355e38, 3.3895313892515355e38)
