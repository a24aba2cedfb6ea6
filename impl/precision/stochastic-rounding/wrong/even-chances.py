"""Goes up with probability ½ wherever it lies.
不管落在哪里，都以 ½ 的概率向上。

symptom: The mean is the middle between the neighbours.
症状：均值是两个邻居的中点。

cards: prec-06
rung: solved
"""

import torch


def stochastic_round_bf16(x, generator=None):
    noise = torch.randint(0, 2**16, x.shape, generator=generator, dtype=torch.int32, device=x.device)
    exact = (x.view(torch.int32) & 65535) == 0
    step = torch.where(exact, 0, (noise & 1) << 16)
    bits = (x.view(torch.int32) + step) & -(2**16)
    return torch.where(x.isfinite(), bits.view(torch.float32), x)
