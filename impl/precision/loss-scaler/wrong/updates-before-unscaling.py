"""Changes the scale inside `step`, before it divides.
在 `step` 里先改 scale，再做除法。

symptom: Where the scale grows, gradients are divided by twice what the loss was multiplied by.
症状：放大的那一步，梯度除的系数是损失所乘系数的两倍。

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
        self.change()
        if self.good:
            for g in grads:
                g.div_(self.size)
        return self.good

    def update(self):
        pass

    def change(self):
        if not self.good:
            self.size *= self.backoff
            self.count = 0
            return
        self.count += 1
        if self.count == self.interval:
            self.size *= self.growth
            self.count = 0
