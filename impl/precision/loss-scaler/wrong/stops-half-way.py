"""Divides each gradient as soon as it has looked at it.
边检查边除。

symptom: Where the last one overflowed, those before it are already divided.
症状：最后一个溢出时，前面的已经被除过了。

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
        self.good = False
        for g in grads:
            if not bool(g.isfinite().all()):
                return False
            g.div_(self.size)
        self.good = True
        return True

    def update(self):
        if not self.good:
            self.size *= self.backoff
            self.count = 0
            return
        self.count += 1
        if self.count == self.interval:
            self.size *= self.growth
            self.count = 0
