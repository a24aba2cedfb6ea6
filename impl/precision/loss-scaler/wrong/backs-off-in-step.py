"""Lowers the scale in step, before update is called.
在 step 里就减小 scale，不等 update。

symptom: A loss scaled between step and update has another factor than its gradients.
症状：step 与 update 之间缩放的损失，系数已经变了。

cards: prec-08
rung: solved
"""

import torch
from torch import Tensor


class DynamicScaler:
    def __init__(self, init: float = 2.0**16, growth: float = 2.0, backoff: float = 0.5, interval: int = 2000) -> None:
        self._scale = float(init)
        self._growth = float(growth)
        self._backoff = float(backoff)
        self._interval = int(interval)
        self._good = 0
        self._last_ok = True

    def scale(self, loss: Tensor) -> Tensor:
        return (loss.to(torch.promote_types(loss.dtype, torch.float32)) * self._scale).to(loss.dtype)

    @torch.no_grad()
    def step(self, grads: list[Tensor]) -> bool:
        ok = True
        for g in grads:
            if not bool(torch.isfinite(g).all()):
                ok = False
                break
        if ok:
            for g in grads:
                acc = torch.promote_types(g.dtype, torch.float32)
                g.copy_(g.to(acc) / self._scale)
        self._last_ok = ok
        if not ok:
            self._scale *= self._backoff
            self._good = 0
        return ok

    def update(self) -> None:
        if self._last_ok:
            self._good += 1
            if self._good >= self._interval:
                self._scale *= self._growth
                self._good = 0
        else:
            self._good = 0
