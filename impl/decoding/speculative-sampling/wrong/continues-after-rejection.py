"""Goes on checking after a rejection.
拒绝之后还继续检查后面的 token。

symptom: Keeps tokens whose prefix was thrown away.
症状：前缀已被丢弃，后面的 token 却留下。

cards: dec-09
rung: solved
"""
import torch


def draw(weights, generator):
    return int(torch.multinomial(weights, 1, generator=generator))


def spec_step(target_probs, draft_probs, draft_tokens, generator):
    count = draft_tokens.shape[0]
    accepted, following = 0, None
    for i in range(count):
        token = int(draft_tokens[i])
        p, q = target_probs[i].double(), draft_probs[i].double()
        u = torch.rand((), generator=generator, dtype=torch.float64)
        if not bool(u * q[token] < p[token]):
            residual = (p - q).clamp(min=0.0)
            following = draw(residual, generator) if following is None else following
        else:
            accepted += 1
    if following is None:
        following = draw(target_probs[count].double(), generator)
    return accepted, following
