"""One mean for each 256 blocks instead of one for all.
每 256 块各求一个均值，而不是全部块共用一个。

symptom: Stores another number for each group, and absmax values round elsewhere.
症状：每组多存一个数，absmax 的舍入位置也不同。

cards: prec-16
rung: solved
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

LEVELS = (
    -1.0, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.09105004, 0.0,
    0.0795803, 0.1609302, 0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0,
)  # fmt: skip
GROUP = 256


class QLoRALinear(nn.Module):
    def __init__(self, weight: Tensor, r: int, alpha: float, block: int = 64, double_quant: bool = True) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        self.block = block
        self.double_quant = double_quant
        self.scaling = alpha / r
        dev = weight.device
        acc = torch.promote_types(weight.dtype, torch.float32)
        with torch.no_grad():
            w = weight.detach().to(acc).reshape(-1, block)
            absmax = w.abs().amax(dim=1)
            div = absmax
            if double_quant:
                mean = torch.stack([p.mean() for p in absmax.split(GROUP)]).to(torch.float32)
                centred = absmax - mean.repeat_interleave(GROUP)[: absmax.numel()]
                n = centred.numel()
                n_groups = -(-n // GROUP)
                padded = F.pad(centred, (0, n_groups * GROUP - n)).reshape(n_groups, GROUP)
                s = (padded.abs().amax(dim=1) / 127).to(torch.float32)
                safe = torch.where(s > 0, s, torch.ones_like(s))
                q = torch.round(padded / safe[:, None]).clamp(-127, 127)
                self.register_buffer("absmax_q", q.reshape(-1)[:n].to(torch.int8))
                self.register_buffer("absmax_s", s)
                self.register_buffer("absmax_mean", mean)
            else:
                self.register_buffer("absmax", absmax.to(torch.float32))
            unit = w / torch.where(div > 0, div, torch.ones_like(div))[:, None]
            levels = torch.tensor(LEVELS, dtype=acc, device=dev)
            borders = (levels[1:] + levels[:-1]) / 2
            codes = torch.bucketize(unit.reshape(-1).contiguous(), borders).to(torch.uint8)
            pairs = codes.reshape(-1, 2)
            self.register_buffer("codes", pairs[:, 0] | (pairs[:, 1] << 4))
        self.lora_A = nn.Parameter(torch.empty(r, self.in_features, dtype=torch.float32, device=dev))
        self.lora_B = nn.Parameter(torch.zeros(self.out_features, r, dtype=torch.float32, device=dev))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))

    def _scales(self) -> Tensor:
        if not self.double_quant:
            return self.absmax
        n = self.absmax_q.numel()
        s = self.absmax_s.repeat_interleave(GROUP)[:n]
        return self.absmax_mean.repeat_interleave(GROUP)[:n] + s * self.absmax_q.to(torch.float32)

    @torch.no_grad()
    def _weight(self, dtype: torch.dtype) -> Tensor:
        codes = torch.stack((self.codes & 15, self.codes >> 4), dim=1).reshape(-1).to(torch.int64)
        table = torch.tensor(LEVELS, dtype=dtype, device=self.codes.device)
        w = table[codes].reshape(-1, self.block) * self._scales().to(dtype)[:, None]
        return w.reshape(self.out_features, self.in_features)

    def forward(self, x: Tensor) -> Tensor:
        acc = torch.promote_types(x.dtype, torch.float32)
        xf = x.to(acc)
        y = F.linear(xf, self._weight(acc))
        low = F.linear(F.linear(xf, self.lora_A.to(acc)), self.lora_B.to(acc))
        return (y + self.scaling * low).to(x.dtype)
