"""Accepts with probability q/p.
接受概率写成了 q/p。

symptom: Tokens that the target excludes are accepted.
症状：目标概率为 0 的 token 也被接受。

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
        if not bool(u * p[token] < q[token]):
            residual = (p - q).clamp(min=0.0)
            return i, draw(residual, generator)
    return count, draw(target_probs[count].double(), generator)
