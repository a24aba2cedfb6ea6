"""Takes device=None for the CPU.
把 device=None 当成了 CPU。

symptom: Under another default device it stays on the CPU.
症状：换了默认设备，掩码还在 CPU 上。

cards: mask-08
rung: hardened
"""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    return torch.ones(T, S, dtype=torch.bool, device=device or "cpu").tril(S - T)
