"""Draws the mask on the CPU.
掩码抽在了 CPU 上。

symptom: Fails on the GPU: tensors on two devices.
症状：在 GPU 上报设备不一致。

cards: mask-12
rung: hardened
"""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0.0
    keep = torch.rand(weights.shape, generator=generator) >= p
    return weights * keep / (1 - p)
