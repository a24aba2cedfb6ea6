"""Returns the last drafted token when all are accepted.
全部接受时返回最后一个草稿 token。

symptom: Words double when the draft was right.
症状：草稿猜对时词就重复。

cards: dec-09, dec-10
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
            return i, draw(residual, generator)
    return count, int(draft_tokens[-1])
