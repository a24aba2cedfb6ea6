"""Draws from the target after a rejection, not from the residual.
拒绝后从目标而不是残差采样。

symptom: The draft's favourites come too often.
症状：草稿偏爱的出现过多。

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
            residual = p
            return i, draw(residual, generator)
    return count, draw(target_probs[count].double(), generator)
