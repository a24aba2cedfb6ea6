"""y = base(x) + (g − 1)·(x W₀ᵀ) + g·α/r·(x Aᵀ)Bᵀ; norms without BA: ‖w‖² + 2s·(wAᵀ)·b + s²·b(AAᵀ)b, in float64."""

import torch
from torch import nn


class DoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        self.base = base.requires_grad_(False)
        w = base.weight
        self.lora_A = nn.Parameter(torch.randn(r, w.shape[1], dtype=w.dtype, device=w.device) * 0.1)
        self.lora_B = nn.Parameter(w.new_zeros(w.shape[0], r))
        self.m = nn.Parameter(w.double().square().sum(1).sqrt().to(w.dtype))
        self.s = alpha / r
        self.drop = nn.Dropout(dropout)

    @torch.no_grad()
    def _norm(self):
        w, a, b = self.base.weight.double(), self.lora_A.double(), self.lora_B.double()
        square = (w * w).sum(1) + 2 * self.s * ((w @ a.T) * b).sum(1) + self.s**2 * ((b @ (a @ a.T)) * b).sum(1)
        norm = square.clamp(min=0).sqrt()
        return torch.where(norm == 0, torch.ones_like(norm), norm).to(self.m.dtype)

    def forward(self, x):
        g = self.m / self._norm()
        plain = nn.functional.linear(x, self.base.weight)
        thin = self.s * ((self.drop(x) @ self.lora_A.T) @ self.lora_B.T)
        y = g * (plain + thin)
        return y if self.base.bias is None else y + self.base.bias

    @torch.no_grad()
    def merged_weight(self):
        return torch.diag(self.m / self._norm()) @ (self.base.weight + self.s * self.lora_B @ self.lora_A)
