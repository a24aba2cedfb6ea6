"""Returns tensors instead of ints.
返回张量而不是 int。

symptom: Lists of tokens fill with tensors.
症状：token 列表里混进了张量。

cards: dec-09
rung: solved
"""
import torch


def draw(weights, generator):
    return torch.multinomial(weights, 1, generator=generator)[0]


def spec_step(target_probs, draft_probs, draft_tokens, generator):
    count = draft_tokens.shape[0]
    for i in range(count):
        token = int(draft_tokens[i])
        p, q = target_probs[i].double(), draft_probs[i].double()
        u = torch.rand((), generator=generator, dtype=torch.float64)
        if not bool(u * q[token] < p[token]):
            residual = (p - q).clamp(min=0.0)
            return i, draw(residual, generator)
    return count, draw(target_probs[count].double(), generator)
