"""Repetition penalty: a token that has occurred becomes less likely, by a factor on its logit.

A positive logit is divided, a negative one multiplied: both move down for a penalty above 1. Dividing negative ones, as CTRL's formula
has it, would make them more likely. Decisions:
- present or not is all that counts, not how often; each row has a history of its own;
- 0 stays 0, whatever the penalty; −inf stays −inf.

Keskar et al. 2019, arXiv 1909.05858, §4.1.
"""

from __future__ import annotations

import torch
from torch import Tensor


def repetition_penalty(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    said = torch.zeros_like(logits, dtype=torch.bool).scatter(1, ids, True)  # (B, V)
    lower = torch.where(logits > 0, logits / penalty, logits * penalty)  # (B, V)
    return torch.where(said, lower, logits)
