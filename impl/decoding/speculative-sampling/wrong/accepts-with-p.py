"""Accepts with probability p instead of p/q.
以概率 p 而不是 p/q 接受。

symptom: Large vocabularies: hardly anything is accepted.
症状：词表一大就几乎什么都不接受。

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
        if not bool(u < p[token]):
            residual = (p - q).clamp(min=0.0)
            return i, draw(residual, generator)
    return count, draw(target_probs[count].double(), generator)
