"""Always uses the default device.
掩码总建在默认设备上。

symptom: Fails on the GPU: tensors on two devices.
症状：在 GPU 上报设备不一致。

cards: mask-06
rung: hardened
"""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    return torch.ones(T, S, dtype=torch.bool).tril(diagonal=S - T)
