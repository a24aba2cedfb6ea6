"""Makes numbers below 2⁻¹²⁶ zero.
小于 2⁻¹²⁶ 的数清零。

symptom: bfloat16 has numbers down to 2⁻¹³³.
症状：bfloat16 最小到 2⁻¹³³。

cards: prec-01
rung: solved
"""

import torch


def stochastic_round_bf16(x, generator=None):
    noise = torch.randint(0, 2**16, x.shape, generator=generator, dtype=torch.int32, device=x.device)
    bits = (x.view(torch.int32) + noise) & -(2**16)
    bits = torch.where(x.abs() < 2.0**-126, x.view(torch.int32) & -(2**31), bits)
    return torch.where(x.isfinite(), bits.view(torch.float32), x)
