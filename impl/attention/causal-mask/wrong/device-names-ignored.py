"""Honours a torch.device and takes the name of one for the default.
只认 torch.device 对象，传设备名字符串时当成默认设备。

symptom: device="cuda" gives a mask on the CPU.
症状：device="cuda" 得到的掩码却在 CPU 上。

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
