"""Keeps scale and count on the class.
scale 和计数放在类上，所有实例共用。

symptom: A second scaler changes the first.
症状：第二个 scaler 会改动第一个。

cards: prec-08
rung: solved
"""

import torch


class DynamicScaler:
    def __init__(self, init=2.0**16, growth=2.0, backoff=0.5, interval=2000):
        DynamicScaler.size, self.growth, self.backoff, self.interval = init, growth, backoff, interval
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
            DynamicScaler.size *= self.backoff
            self.count = 0
            return
        self.count += 1
        if self.count == self.interval:
            DynamicScaler.size *= self.growth
            self.count = 0
