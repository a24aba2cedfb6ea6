"""Puts all sines before all cosines.
正弦全放前一半，余弦全放后一半。

symptom: The same numbers in other columns: weights trained with the paper's layout are garbage.
症状：数相同，列不同：按论文布局训练的权重全乱了。

cards: pos-03
rung: solved
"""

import torch


def sinusoidal_pe(T, D, base=10000.0, offset=0):
    position = torch.arange(offset, offset + T, dtype=torch.float64)
    speed = base ** -(torch.arange(0, D, 2, dtype=torch.float64) / D)
    phase = position[:, None] * speed
    return torch.cat((torch.sin(phase), torch.cos(phase)[:, : D // 2]), dim=1).float()
