"""Does not multiply by 1/(1 − p).
没有乘 1/(1 − p)。

symptom: Activations shrink in training.
症状：训练时激活偏小。

cards: mask-12
rung: solved
"""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0.0
    keep = torch.rand(weights.shape, generator=generator, device=weights.device) >= p
    return weights * keep
