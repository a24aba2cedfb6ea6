"""Takes a device's name for the default device.
设备名字符串被当成默认设备。

symptom: device="cuda" gives a CPU mask.
症状：device="cuda" 得到 CPU 上的掩码。

cards: mask-06
rung: hardened
"""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    place = device if isinstance(device, torch.device) else None
    return torch.ones(T, S, dtype=torch.bool, device=place).tril(diagonal=S - T)
