"""Uses one random number for all tokens.
所有 token 共用一个随机数。

symptom: Acceptances correlate: all or none.
症状：要么全收，要么全不收。

cards: dec-09
rung: solved
"""
import torch


def draw(weights, generator):
    return int(torch.multinomial(weights, 1, generator=generator))


def spec_step(target_probs, draft_probs, draft_tokens, generator):
    count = draft_tokens.shape[0]
    u = torch.rand((), generator=generator, dtype=torch.float64)
    for i in range(count):
        token = int(draft_tokens[i])
        p, q = target_probs[i].double(), draft_probs[i].double()
        if not bool(u * q[token] < p[token]):
            residual = (p - q).clamp(min=0.0)
            return i, draw(residual, generator)
    return count, draw(target_probs[count].double(), generator)
