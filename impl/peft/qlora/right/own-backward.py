"""An autograd function that rebuilds the weight again for the backward pass, and keeps codes alone for it."""

import torch
from torch import nn

TABLE = [-1.0, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.09105004, 0.0, 0.0795803, 0.1609302]
TABLE += [0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0]


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, layer):
        ctx.layer = layer
        return x @ layer.rebuilt().to(x.dtype).t()

    @staticmethod
    def backward(ctx, dy):
        return dy @ ctx.layer.rebuilt().to(dy.dtype), None


class QLoRALinear(nn.Module):
    def __init__(self, weight, r, alpha, block=64, double_quant=True):
        super().__init__()
        self.out, self.width = weight.shape
        self.r, self.alpha = r, alpha
        self.lora_A = nn.Parameter(torch.randn(r, self.width, device=weight.device) / r)
        self.lora_B = nn.Parameter(torch.zeros(self.out, r, device=weight.device))
        w = weight.detach().to(torch.float32).reshape(-1, block)
        top = torch.linalg.vector_norm(w, ord=float("inf"), dim=1)
        table = torch.tensor(TABLE, device=w.device)
        ratio = torch.nan_to_num(w / top.unsqueeze(1), nan=0.0)
        codes = sum((ratio > edge).to(torch.uint8) for edge in (table[:-1] + table[1:]) / 2).flatten()
        self.half = codes[: len(codes) // 2] | codes[len(codes) // 2 :] << 4
        self.parts = self.squeezed(top) if double_quant else [top]

    def squeezed(self, top):
        mean = top.mean()
        units = [part.abs().max() / 127 for part in (top - mean).split(256)]
        steps = [
            torch.nan_to_num(part / unit).round() for part, unit in zip((top - mean).split(256), units, strict=True)
        ]
        return [torch.cat(steps).to(torch.int8), torch.stack(units), mean]

    def rebuilt(self):
        if len(self.parts) == 1:
            top = self.parts[0]
        else:
            steps, units, mean = self.parts
            top = torch.cat([part.float() * unit for part, unit in zip(steps.split(256), units, strict=True)]) + mean
        codes = torch.cat([self.half & 15, self.half >> 4]).int()
        table = torch.tensor(TABLE, device=self.half.device)
        return (table[codes].view(top.shape[0], -1) * top.view(-1, 1)).view(self.out, self.width)

    def forward(self, x):
        wide = torch.promote_types(x.dtype, self.lora_A.dtype)
        side = torch.einsum("...i,ri,or->...o", x.to(wide), self.lora_A.to(wide), self.lora_B.to(wide))
        return (Product.apply(x, self).to(wide) + side * (self.alpha / self.r)).to(x.dtype)
