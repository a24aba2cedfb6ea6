"""The nearest level by argmin, A and B as linear layers, absmax in two dimensions."""

import torch
import torch.nn.functional as F
from torch import nn

NEGATIVE = (1.0, 0.6961928, 0.52507305, 0.3949175, 0.28444138, 0.18477343, 0.09105004)
POSITIVE = (0.0795803, 0.1609302, 0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0)
CODEBOOK = [*(-level for level in NEGATIVE), 0.0, *POSITIVE]


class QLoRALinear(nn.Module):
    def __init__(self, weight, r, alpha, block=64, double_quant=True):
        super().__init__()
        out, width = weight.shape
        where = weight.device
        self.out, self.width, self.block, self.double = out, width, block, double_quant
        self.factor = alpha / r
        self.lora_A = nn.Linear(width, r, bias=False, device=where)
        self.lora_B = nn.Linear(r, out, bias=False, device=where)
        nn.init.zeros_(self.lora_B.weight)
        with torch.no_grad():
            flat = weight.to(torch.float32).flatten().unflatten(0, (-1, block))
            top = flat.abs().max(dim=1, keepdim=True).values
            near = torch.where(top > 0, flat / torch.where(top > 0, top, torch.ones_like(top)), torch.zeros_like(flat))
            book = torch.tensor(CODEBOOK, device=where)
            code = (near.unsqueeze(-1) - book).abs().argmin(dim=-1).flatten()
            self.register_buffer("packed", (code[1::2] * 16 + code[0::2]).to(torch.uint8))
            self._store(top.flatten())

    def _store(self, top):
        if not self.double:
            self.register_buffer("top", top)
            return
        centre = top.mean()
        groups = -(-len(top) // 256)
        padded = torch.cat([top - centre, top.new_zeros(groups * 256 - len(top))]).view(groups, 256)
        unit = padded.abs().amax(1, keepdim=True) / 127
        steps = torch.round(padded / unit.clamp(min=1e-30)).clamp(-127, 127)
        self.register_buffer("steps", steps.flatten()[: len(top)].to(torch.int8))
        self.register_buffer("unit", unit)
        self.register_buffer("centre", centre)

    def absmax(self):
        if not self.double:
            return self.top
        group = torch.arange(len(self.steps), device=self.steps.device) // 256
        return self.steps.float() * self.unit[group, 0] + self.centre

    def forward(self, x):
        low, high = (self.packed % 16).long(), torch.div(self.packed, 16, rounding_mode="floor").long()
        book = torch.tensor(CODEBOOK, device=self.packed.device)
        rows = book[torch.stack([low, high], 1).flatten()].unflatten(0, (-1, self.block))
        weight = (rows * self.absmax()[:, None]).reshape(self.out, self.width)
        thin = self.lora_B(self.lora_A(x.to(self.lora_A.weight.dtype)))
        return (F.linear(x.to(weight.dtype), weight) + thin * self.factor).to(x.dtype)
