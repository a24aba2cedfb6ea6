"""Takes the residual's likeliest token instead of drawing.
取残差中最大的 token，没有采样。

symptom: A rejection is always followed by the same token.
症状：拒绝之后总接同一个 token。

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
            return i, int(residual.argmax())
    return count, draw(target_probs[count].double(), generator)
