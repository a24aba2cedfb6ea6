"""A and B are nn.Linears; unmerging puts a copy of the weight back."""
import torch
from torch import nn
from torch.nn import functional as F


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        self.base = base
        for parameter in base.parameters():
            parameter.requires_grad = False
        options = dict(bias=False, device=base.weight.device, dtype=base.weight.dtype)
        self.lora_A = nn.Linear(base.in_features, r, **options)
        self.lora_B = nn.Linear(r, base.out_features, **options)
        nn.init.normal_(self.lora_A.weight, std=1 / r)
        nn.init.zeros_(self.lora_B.weight)
        self.factor = alpha / r
        self.p = dropout
        self.original = None

    def forward(self, x):
        if self.original is not None:
            return self.base(x)
        dropped = F.dropout(x, self.p, self.training)
        return self.base(x) + self.lora_B(self.lora_A(dropped)) * self.factor

    def merge(self):
        if self.original is not None:
            return self
        with torch.no_grad():
            self.original = self.base.weight.clone()
            self.base.weight.add_(self.lora_B.weight @ self.lora_A.weight, alpha=self.factor)
        return self

    def unmerge(self):
        if self.original is not None:
            with torch.no_grad():
                self.base.weight.copy_(self.original)
            self.original = None
        return self
