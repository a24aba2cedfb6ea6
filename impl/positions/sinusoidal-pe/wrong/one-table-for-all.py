"""Hands the same cached table to every caller.
所有调用者拿到同一张缓存的表。

symptom: Who edits one table edits all.
症状：一处改了表，处处都变。

cards: pos-03
rung: hardened
"""

import functools

import torch


@functools.lru_cache(maxsize=None)
def sinusoidal_pe(T, D, base=10000.0, offset=0):
    position = torch.arange(offset, offset + T, dtype=torch.float64)
    speed = base ** -(torch.arange(0, D, 2, dtype=torch.float64) / D)
    phase = position[:, None] * speed
    table = torch.zeros(T, D)
    table[:, 0::2] = torch.sin(phase)
    table[:, 1::2] = torch.cos(phase)[:, : D // 2]
    return table
