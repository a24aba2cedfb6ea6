"""Draws by a cumulative sum in the rows' dtype.
累积和用了各行的 dtype。

symptom: In bfloat16 small chances are swallowed or doubled.
症状：bfloat16 下，小概率被吞掉或翻倍。

cards: prec-07
rung: hardened
"""
import torch


def draw(weights, generator):
    cumulative = weights.cumsum(0)
    cumulative = cumulative / cumulative[-1]
    u = torch.rand(1, generator=generator, dtype=weights.dtype)
    return int(torch.searchsorted(cumulative, u, right=True).clamp(max=len(weights) - 1))


def spec_step(target_probs, draft_probs, draft_tokens, generator):
    gamma = draft_tokens.shape[0]
    for i in range(gamma):
        token = int(draft_tokens[i])
        u = torch.rand((), generator=generator, dtype=torch.float64)
        if u * draft_probs[i, token] >= target_probs[i, token].double():
            return i, draw((target_probs[i] - draft_probs[i]).clamp(min=0.0), generator)
    return gamma, draw(target_probs[gamma], generator)
