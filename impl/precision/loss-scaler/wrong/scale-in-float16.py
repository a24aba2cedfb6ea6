"""Divides float16 gradients by a float16 scale.
scale 先转成梯度的 dtype 再除。

symptom: 2¹⁷ is inf in float16: every gradient becomes 0.
症状：2¹⁷ 在 float16 里是 inf，梯度全变成 0。

cards: prec-02
rung: hardened
"""

import torch


class DynamicScaler:
    def __init__(self, init=2.0**16, growth=2.0, backoff=0.5, interval=2000):
        self.size, self.growth, self.backoff, self.interval = init, growth, backoff, interval
        self.count = 0
        self.good = True

    def scale(self, loss):
        return loss * self.size

    @torch.no_grad()
    def step(self, grads):
        self.good = all(bool(g.isfinite().all()) for g in grads)
        if self.good:
            for g in grads:
                g.div_(torch.full_like(g, self.size))
        return self.good

    def update(self):
        if not self.good:
            self.size *= self.backoff
            self.count = 0
            return
        self.count += 1
        if self.count == self.interval:
            self.size *= self.growth
            self.count = 0
