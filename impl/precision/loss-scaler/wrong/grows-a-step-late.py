"""Raises the scale after interval + 1 good steps.
连续 interval + 1 个正常步才放大。

symptom: Off by one in each interval.
症状：每个周期都差一步。

cards: prec-08
rung: solved
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
                g.div_(self.size)
        return self.good

    def update(self):
        if not self.good:
            self.size *= self.backoff
            self.count = 0
            return
        self.count += 1
        if self.count > self.interval:
            self.size *= self.growth
            self.count = 0
