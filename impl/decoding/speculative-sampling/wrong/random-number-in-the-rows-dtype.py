"""Draws in the dtype of the rows and accepts on equality.
随机数用了行的 dtype，相等也接受。

symptom: In bfloat16 one token in 256 is accepted at p = 0.
症状：bfloat16 下，p = 0 每 256 次接受一次。

cards: dec-09
rung: hardened
"""
import torch


def spec_step(target_probs, draft_probs, draft_tokens, generator):
    gamma = draft_probs.shape[0]
    for i in range(gamma):
        token = int(draft_tokens[i])
        u = torch.rand((), generator=generator, dtype=target_probs.dtype)
        if u > target_probs[i, token] / draft_probs[i, token]:
            residual = (target_probs[i].double() - draft_probs[i].double()).clamp(min=0.0)
            return i, int(torch.multinomial(residual, 1, generator=generator))
    return gamma, int(torch.multinomial(target_probs[gamma].double(), 1, generator=generator))
