"""DPO: logistic regression on how much more the policy prefers the chosen answer than the reference does.

    loss = mean −log σ(β · ((pc − pr) − (rc − rr)))

Decisions:
- inputs are log-probabilities of whole answers, summed over their tokens, not averaged;
- β·(log π − log π_ref) is the implicit reward; the partition function cancels in the difference of two answers;
- logsigmoid in one step: at x = −200 it is −200, where σ itself is 0 in float32 and its logarithm −∞;
- the mean is over pairs: each pair has its own loss before averaging.

Rafailov et al. 2023, arXiv 2305.18290, section 4.
"""

from __future__ import annotations

import torch
from torch import Tensor


def dpo_loss(pc: Tensor, pr: Tensor, rc: Tensor, rr: Tensor, beta: float) -> Tensor:
    dtype = pc.dtype
    pc, pr, rc, rr = (part.to(torch.promote_types(dtype, torch.float32)) for part in (pc, pr, rc, rr))  # (B,)

    margin = (pc - pr) - (rc - rr)  # (B,), 0 where policy and reference agree

    return -torch.nn.functional.logsigmoid(beta * margin).mean().to(dtype)
