"""Draws from torch's global generator.
用了 torch 的全局生成器。

symptom: A run cannot be repeated from its seed.
症状：种子相同也不能复现。

cards: dec-17
rung: solved
"""
import torch


def draw(weights, generator):
    return int(torch.multinomial(weights, 1))


def spec_step(target_probs, draft_probs, draft_tokens, generator):
    count = draft_tokens.shape[0]
    for i in range(count):
        token = int(draft_tokens[i])
        p, q = target_probs[i].double(), draft_probs[i].double()
        u = torch.rand((), dtype=torch.float64)
        if not bool(u * q[token] < p[token]):
            residual = (p - q).clamp(min=0.0)
            return i, draw(residual, generator)
    return count, draw(target_probs[count].double(), generator)
