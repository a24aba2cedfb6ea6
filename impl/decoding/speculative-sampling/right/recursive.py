"""Plain Python numbers, recursion over the remaining tokens."""
import torch


def uniform(generator):
    return float(torch.rand(1, generator=generator, dtype=torch.float64))


def roulette(weights, generator):
    ball = uniform(generator) * sum(weights)
    last = 0
    for index, weight in enumerate(weights):
        if weight <= 0.0:
            continue
        last = index
        ball -= weight
        if ball < 0.0:
            return index
    return last


def continue_with(p, q, tokens, generator):
    if not tokens:
        return 0, roulette(p[0], generator)
    token = tokens[0]
    if p[0][token] < q[0][token] and uniform(generator) * q[0][token] >= p[0][token]:
        return 0, roulette([a - b if a > b else 0.0 for a, b in zip(p[0], q[0])], generator)
    n, following = continue_with(p[1:], q[1:], tokens[1:], generator)
    return n + 1, following


def spec_step(target_probs, draft_probs, draft_tokens, generator):
    return continue_with(target_probs.tolist(), draft_probs.tolist(), draft_tokens.tolist(), generator)
