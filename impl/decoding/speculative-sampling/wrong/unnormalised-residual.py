"""Inverts the residual's cumulative sum without normalising.
残差没有归一化就按累积和采样。

symptom: The vocabulary's last token comes too often.
症状：词表最后一个 token 过多。

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
            v = torch.rand((), generator=generator, dtype=torch.float64)
            return i, min(int(torch.searchsorted(residual.cumsum(0), v, right=True)), len(residual) - 1)
    return count, draw(target_probs[count].double(), generator)
