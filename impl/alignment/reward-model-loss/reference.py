"""The loss of a reward model: of two answers the chosen one should get the higher score.

    loss = mean −log σ(chosen − rejected − margin)

Decisions:
- Bradley–Terry: the probability that an answer is preferred is σ of the difference of scores, so only differences matter;
- a margin asks for more than a higher score: it is taken off the difference, inside σ;
- logsigmoid in one step, finite for any x: torch.sigmoid is 0 in float32 from −89 on;
- the mean is over pairs.

Ouyang et al. 2022, arXiv 2203.02155, eq. 1; the margin: Touvron et al. 2023, arXiv 2307.09288, section 3.2.2.
"""

from __future__ import annotations

import torch
from torch import Tensor


def rm_loss(chosen: Tensor, rejected: Tensor, margin: Tensor | None = None) -> Tensor:
    wide = torch.promote_types(chosen.dtype, torch.float32)

    lead = chosen.to(wide) - rejected.to(wide)  # (B,)
    if margin is not None:
        lead = lead - margin.to(wide)

    return -torch.nn.functional.logsigmoid(lead).mean().to(chosen.dtype)
