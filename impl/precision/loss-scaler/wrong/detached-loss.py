"""Scales the loss outside the graph.
在计算图之外缩放损失。

symptom: backward fails, or no gradient arrives anywhere.
症状：backward 报错，或者哪里都收不到梯度。

cards: opt-22
rung: solved
"""

import torch


class DynamicScaler:
    def __init__(self, init=2.0**16, growth=2.0, backoff=0.5, interval=2000):
        self.size, self.growth, self.backoff, self.interval = init, growth, backoff, interval
        self.count = 0
        self.good = True

    def scale(self, loss):
        return loss.detach() * self.size

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
        if self.count == self.interval:
            self.size *= self.growth
            self.count = 0
