"""Builds W′ and multiplies with it; the norm is detached, A and B are linear layers."""

import torch
import torch.nn.functional as F
from torch import nn


class DoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        self.base = base
        for parameter in base.parameters():
            parameter.requires_grad = False
        like = dict(device=base.weight.device, dtype=base.weight.dtype)
        self.lora_A = nn.Linear(base.in_features, r, bias=False, **like)
        self.lora_B = nn.Linear(r, base.out_features, bias=False, **like)
        nn.init.zeros_(self.lora_B.weight)
        self.m = nn.Parameter(torch.linalg.vector_norm(base.weight, dim=-1).detach().clone())
        self.r, self.alpha, self.p = r, alpha, dropout

    def _merged(self):
        V = torch.addmm(self.base.weight, self.lora_B.weight, self.lora_A.weight, alpha=self.alpha / self.r)
        length = V.detach().pow(2).sum(1, keepdim=True).sqrt()
        return self.m.unsqueeze(1) * V / torch.where(length > 0, length, torch.ones_like(length))

    def merged_weight(self):
        return self._merged().detach()

    def forward(self, x):
        y = F.linear(F.dropout(x, self.p, self.training), self._merged())
        return y + self.base.bias if self.base.bias is not None else y
