"""Divides copies of the gradients.
除的是副本，没有原地改。

symptom: The optimiser sees gradients 65,536 times too large.
症状：优化器看到的梯度大了 65536 倍。

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
                g = g / self.size
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
