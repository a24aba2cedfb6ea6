"""Keeps how the last steps went and reads the scale's next move off them."""

import math
from collections import deque

import torch


class DynamicScaler:
    def __init__(self, init=2.0**16, growth=2.0, backoff=0.5, interval=2000):
        self.factor = float(init)
        self.growth, self.backoff = growth, backoff
        self.recent = deque(maxlen=interval)

    def scale(self, loss):
        return self.factor * loss

    def step(self, grads):
        odd = sum(int((g - g).ne(0).sum()) for g in grads)
        self.recent.append(odd == 0)
        if odd:
            return False
        for g in grads:
            g.data.mul_(1.0 / self.factor)
        return True

    def update(self):
        if not self.recent[-1]:
            self.factor *= self.backoff
        elif len(self.recent) == self.recent.maxlen and all(self.recent):
            self.factor *= self.growth
        else:
            return
        self.recent.clear()
