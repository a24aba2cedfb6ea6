"""Cuts every mask out of one buffer.
所有掩码切自同一缓冲区。

symptom: Editing one mask changes others.
症状：一处改了掩码，别处跟着变。

cards: mask-06
rung: solved
"""
import torch

largest = {}


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    key = str(device)
    if key not in largest or largest[key].shape[0] < S:
        largest[key] = torch.ones(2 * S, 2 * S, dtype=torch.bool, device=device).tril()
    return largest[key][S - T : S, :S]
