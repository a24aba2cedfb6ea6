"""A factor on the inverse; what is to come is decided in `step` and done in `update`."""

import math

import torch


class DynamicScaler:
    def __init__(self, init=2.0**16, growth=2.0, backoff=0.5, interval=2000):
        self.current = init
        self.up, self.down, self.interval = growth, backoff, interval
        self.streak = 0

    def scale(self, loss):
        return torch.mul(loss, self.current)

    def step(self, grads):
        worst = [torch.linalg.vector_norm(g.detach().double(), ord=float("inf")) for g in grads if g.numel()]
        fine = all(map(math.isfinite, worst))
        self.streak = self.streak + 1 if fine else -1
        if fine:
            for g in grads:
                with torch.no_grad():
                    g.copy_(g.double() / self.current)
        return fine

    def update(self):
        if self.streak < 0:
            self.current, self.streak = self.current * self.down, 0
        elif self.streak % self.interval == 0:
            self.current, self.streak = self.current * self.up, 0
