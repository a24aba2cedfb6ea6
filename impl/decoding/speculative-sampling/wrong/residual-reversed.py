"""Takes max(0, q − p) for the residual.
残差写成了 max(0, q − p)。

symptom: What is rejected comes right back.
症状：拒绝什么就采出什么。

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
            residual = (q - p).clamp(min=0.0)
            residual = residual if float(residual.sum()) > 0 else p
            return i, draw(residual, generator)
    return count, draw(target_probs[count].double(), generator)
