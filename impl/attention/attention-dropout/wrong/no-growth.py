"""Does not multiply what is kept by 1/(1 − p).
保留下来的没有乘 1/(1 − p)。

symptom: Activations are smaller in training than in evaluation.
症状：训练时的激活比评估时小。

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
