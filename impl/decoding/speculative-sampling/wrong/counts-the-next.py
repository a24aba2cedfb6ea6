"""Counts next among the accepted.
把 next 也算进接受的个数。

symptom: The cache keeps one token too many.
症状：cache 多留一个 token。

cards: dec-09
rung: solved
"""
import torch


def draw(weights, generator):
    return int(torch.multinomial(weights, 1, generator=generator))


def spec_step(target_probs, draft_probs, draft_tokens, generator):
    count = draft_tokens.shape[0]
    for i in range(count):
        token = int(draft_tokens[i])
        p, q = target_probs[i].double(), draft_probs[i].double()
        u = torch.rand((), generator=generator, dtype=torch.float64)
        if not bool(u * q[token] < p[token]):
            residual = (p - q).clamp(min=0.0)
            return i + 1, draw(residual, generator)
    return count + 1, draw(target_probs[count].double(), generator)
