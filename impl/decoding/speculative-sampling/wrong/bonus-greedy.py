"""Takes the last row's likeliest token instead of drawing.
最后一行取概率最大的 token，没有采样。

symptom: Every (γ+1)-th token is greedy.
症状：每 γ+1 个 token 就有一个是贪心的。

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
            return i, draw(residual, generator)
    return count, int(target_probs[count].argmax())
