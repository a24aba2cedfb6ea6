"""Uses the fraction of the magnitude as the chance to go up from the floor.
先向下取整，却按绝对值的小数部分决定是否向上。

symptom: Right for positive numbers; negative ones have the opposite chances.
症状：正数对；负数的概率正好反了。

cards: prec-06
rung: solved
"""

import torch


def stochastic_round_bf16(x, generator=None):
    noise = torch.randint(0, 2**16, x.shape, generator=generator, dtype=torch.int32, device=x.device)
    low = x.view(torch.int32) & 65535
    up = low + noise >= 65536
    up = torch.where((x < 0) & (low > 0), ~up, up)
    bits = x.view(torch.int32) - low + 65536 * up.int()
    return torch.where(x.isfinite(), bits.view(torch.float32), x)
