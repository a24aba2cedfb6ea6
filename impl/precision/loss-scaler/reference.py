"""Dynamic loss scaling: a factor on the loss keeps small float16 gradients above zero, and is adjusted automatically.

The backward pass is linear, so a loss times S gives gradients times S. Decisions:
- all gradients are checked before any is changed: one inf or NaN skips the step and leaves every gradient as it was;
- otherwise they are divided in place by the S that the loss was scaled with, before they are clipped or used;
- S changes in `update` alone: an overflow lowers it and resets the count, `interval` good steps in a row raise it. So it
  rises until it overflows and stays just below.

Micikevicius et al. 2017, arXiv 1710.03740, Section 3.2.
"""

from __future__ import annotations

import torch
from torch import Tensor


class DynamicScaler:
    def __init__(self, init: float = 2.0**16, growth: float = 2.0, backoff: float = 0.5, interval: int = 2000) -> None:
        self.size, self.growth, self.backoff, self.interval = init, growth, backoff, interval
        self.good_steps = 0
        self.overflowed = False

    def scale(self, loss: Tensor) -> Tensor:
        return loss * self.size

    @torch.no_grad()
    def step(self, grads: list[Tensor]) -> bool:
        self.overflowed = not all(bool(g.isfinite().all()) for g in grads)
        if not self.overflowed:
            for g in grads:
                g.div_(self.size)
        return not self.overflowed

    def update(self) -> None:
        if self.overflowed:
            self.size *= self.backoff
            self.good_steps = 0
            return
        self.good_steps += 1
        if self.good_steps == self.interval:
            self.size *= self.growth
            self.good_steps = 0
