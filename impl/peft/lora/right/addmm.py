"""addmm adds the thin product to the flattened base output; state in buffers."""
import torch
import torch.nn as nn


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        w = base.weight
        a = torch.empty((r, w.size(1)), dtype=w.dtype, device=w.device)
        a.uniform_(-1.0, 1.0).div_(w.size(1) ** 0.5)
        self.lora_A = nn.Parameter(a)
        self.lora_B = nn.Parameter(torch.zeros((w.size(0), r), dtype=w.dtype, device=w.device))
        self.drop = nn.Dropout(p=dropout) if dropout > 0 else nn.Identity()
        self.scaling = float(alpha) / r
        self.register_buffer("delta", None, persistent=False)

    def forward(self, x):
        y = self.base(x)
        if self.delta is not None:
            return y
        flat = self.drop(x).reshape(-1, x.shape[-1])
        y = torch.addmm(y.reshape(-1, y.shape[-1]), flat.mm(self.lora_A.t()), self.lora_B.t(), alpha=self.scaling)
        return y.view(*x.shape[:-1], -1)

    def merge(self):
        if self.delta is None:
            self.delta = (self.lora_B.detach() @ self.lora_A.detach()).mul_(self.scaling)
            self.base.weight.data.add_(self.delta)

    def unmerge(self):
        if self.delta is not None:
            self.base.weight.data.sub_(self.delta)
            self.delta = None
