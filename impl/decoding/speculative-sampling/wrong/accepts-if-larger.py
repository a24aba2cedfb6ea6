"""Accepts exactly if p > q, without a draw.
p > q 才接受，没有抽随机数。

symptom: Rejects everything when draft and target agree.
症状：草稿与目标一致时全被拒绝。

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
        if not bool(p[token] > q[token]):
            residual = (p - q).clamp(min=0.0)
            return i, draw(residual, generator)
    return count, draw(target_probs[count].double(), generator)
