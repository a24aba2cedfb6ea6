"""Copies the given generator's seed into one of its own.
用传入 generator 的种子另建一个。

symptom: Every step decides alike.
症状：每一步的决定都一样。

cards: dec-17
rung: solved
"""
import torch


def draw(weights, generator):
    return int(torch.multinomial(weights, 1, generator=generator))


def spec_step(target_probs, draft_probs, draft_tokens, generator):
    generator = torch.Generator().manual_seed(generator.initial_seed())
    count = draft_tokens.shape[0]
    for i in range(count):
        token = int(draft_tokens[i])
        p, q = target_probs[i].double(), draft_probs[i].double()
        u = torch.rand((), generator=generator, dtype=torch.float64)
        if not bool(u * q[token] < p[token]):
            residual = (p - q).clamp(min=0.0)
            return i, draw(residual, generator)
    return count, draw(target_probs[count].double(), generator)
