"""Plain lists of Python floats."""

from __future__ import annotations

import itertools
import torch
from torch import Tensor


def spec_step(target_probs, draft_probs, draft_tokens, generator):
    P, Q = target_probs.double().tolist(), draft_probs.double().tolist()
    uniform = lambda: float(torch.rand(1, generator=generator, dtype=torch.float64))

    def draw(w):
        x, acc = uniform() * sum(w), 0.0
        last = 0
        for i, m in enumerate(w):
            if m > 0:
                last, acc = i, acc + m
                if x < acc:
                    return i
        return last

    for i, t in enumerate(draft_tokens.tolist()):
        if uniform() >= min(1.0, P[i][t] / Q[i][t]):
            return i, draw([max(0.0, a - b) for a, b in zip(P[i], Q[i])])
    return len(draft_tokens), draw(P[-1])
