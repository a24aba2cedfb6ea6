"""Builds the table for D + 1 where D is odd, and cuts a column off.
D 为奇数时按 D + 1 建表，再切掉一列。

symptom: All speeds but the first are off for odd D.
症状：D 为奇数时，除第一个外速度全错。

cards: pos-27
rung: solved
"""

import torch


def sinusoidal_pe(T, D, base=10000.0, offset=0):
    width = D + D % 2
    position = torch.arange(offset, offset + T, dtype=torch.float64)
    phase = position[:, None] * base ** -(torch.arange(0, width, 2, dtype=torch.float64) / width)
    table = torch.zeros(T, width)
    table[:, 0::2] = torch.sin(phase)
    table[:, 1::2] = torch.cos(phase)
    return table[:, :D].clone()
