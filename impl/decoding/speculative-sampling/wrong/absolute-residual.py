"""Takes |p − q| for the residual.
残差写成了 |p − q|。

symptom: The rejected token may come next.
症状：刚被拒绝的 token 又会被采出来。

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
            residual = (p - q).abs()
            return i, draw(residual, generator)
    return count, draw(target_probs[count].double(), generator)
