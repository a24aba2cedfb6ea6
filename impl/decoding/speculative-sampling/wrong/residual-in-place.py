"""Subtracts the draft from the caller's probabilities in place.
原地从调用者的概率里减去草稿分布。

symptom: Later use of the probabilities is wrong.
症状：之后再用这些概率就错。

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
        p, q = target_probs[i], draft_probs[i]
        u = torch.rand((), generator=generator, dtype=torch.float64)
        if not bool(u * q[token] < p[token]):
            residual = p.sub_(q).clamp_(min=0.0)
            return i, draw(residual, generator)
    return count, draw(target_probs[count].double(), generator)
