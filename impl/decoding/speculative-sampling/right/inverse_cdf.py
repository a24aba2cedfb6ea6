"""Asks for all uniforms first; inverts the cumulative sum, no multinomial."""
import torch


def pick(weights, u):
    cumulative = torch.cumsum(weights.to(torch.float64), dim=0)
    index = int(torch.searchsorted(cumulative, u * cumulative[-1], right=True))
    positive = torch.nonzero(weights > 0)
    return min(index, int(positive[-1]))


def spec_step(target_probs, draft_probs, draft_tokens, generator):
    gamma = len(draft_tokens)
    uniforms = torch.rand(gamma + 1, generator=generator, dtype=torch.float64)
    p = target_probs[:-1].gather(1, draft_tokens[:, None])[:, 0].double()
    q = draft_probs.gather(1, draft_tokens[:, None])[:, 0].double()
    refused = torch.nonzero(uniforms[:-1] >= p / q)
    n = int(refused[0]) if len(refused) else gamma
    if n == gamma:
        weights = target_probs[gamma]
    else:
        weights = torch.relu(target_probs[n].double() - draft_probs[n].double())
    return n, pick(weights, uniforms[-1])
