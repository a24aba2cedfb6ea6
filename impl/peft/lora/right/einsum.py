"""Einsum, scale in the middle, dropout mask by hand, keeps the merged factors."""
import math

import torch
from torch import Tensor, nn


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int, alpha: float, dropout: float = 0.0):
        super().__init__()
        self.base = base
        self.base.weight.requires_grad_(False)
        if self.base.bias is not None:
            self.base.bias.requires_grad_(False)
        self.rank, self.alpha, self.rate = r, alpha, dropout
        self.lora_A = nn.Parameter(torch.randn_like(base.weight[:1]).repeat(r, 1) * 0)
        self.lora_B = nn.Parameter(base.weight.new_zeros(base.weight.shape[0], r))
        with torch.no_grad():
            self.lora_A.normal_(0.0, 1.0 / math.sqrt(base.weight.shape[1]))
        self.kept = []

    @property
    def is_merged(self) -> bool:
        return bool(self.kept)

    def forward(self, x: Tensor) -> Tensor:
        out = torch.einsum("...i,oi->...o", x, self.base.weight)
        if self.base.bias is not None:
            out = out + self.base.bias
        if not self.is_merged:
            if self.training and self.rate > 0:
                mask = (torch.rand_like(x) >= self.rate).to(x.dtype)
                x = x * mask / (1 - self.rate) if self.rate < 1 else torch.zeros_like(x)
            middle = torch.einsum("...i,ri->...r", x, self.lora_A) * (self.alpha / self.rank)
            out = out + torch.einsum("...r,or->...o", middle, self.lora_B)
        return out

    def _shift(self, sign: float) -> None:
        a, b = self.kept
        self.base.weight.data += sign * self.alpha / self.rank * torch.einsum("or,ri->oi", b, a)

    def merge(self) -> None:
        if self.is_merged:
            return
        self.kept = [self.lora_A.detach().clone(), self.lora_B.detach().clone()]
        self._shift(1.0)

    def unmerge(self) -> None:
        if self.is_merged:
            self._shift(-1.0)
            self.kept = []
