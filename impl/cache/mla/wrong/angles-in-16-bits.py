"""Makes angles in the layer's dtype.
用该层的 dtype 算旋转角。

symptom: In bfloat16 position 4001 turns like 4000.
症状：bfloat16 下 4001 与 4000 转得一样。

cards: pos-13
rung: hardened
"""

import math
import torch
from torch import Tensor, nn


def _wide(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32


def rms(x: Tensor, gain: Tensor) -> Tensor:
    root = torch.sqrt((x * x).sum(-1, keepdim=True) / x.shape[-1] + 1e-6)
    return gain * (x / root)


def turn(x: Tensor, pos: Tensor, low: torch.dtype) -> Tensor:
    """x (B, T, n, d) as d/2 complex numbers, each multiplied by exp(i pos theta)."""
    half = x.shape[-1] // 2
    power = torch.arange(half, device=x.device, dtype=torch.float64) / half
    theta = torch.exp(power * -math.log(10000.0))
    angle = pos.to(low)[:, :, None, None] * theta.to(low)
    unit = torch.complex(angle.cos().to(x.dtype), angle.sin().to(x.dtype))
    z = torch.complex(x[..., 0::2], x[..., 1::2])
    z = z * unit
    return torch.stack((z.real, z.imag), dim=-1).reshape(x.shape)


class MLA(nn.Module):
    """Matmuls on (B, H, ...) tensors, RoPE by complex numbers; a step is multi-query attention over [c, k_R]."""

    def __init__(self, D: int, H: int, d_nope: int, d_rope: int, d_v: int, r_kv: int, r_q: int) -> None:
        super().__init__()
        self.sizes = (D, H, d_nope, d_rope, d_v, r_kv, r_q)
        shapes = {
            "w_dq": (D, r_q), "g_q": (r_q,), "w_uq": (r_q, H, d_nope + d_rope),
            "w_dkv": (D, r_kv), "g_kv": (r_kv,), "w_kr": (D, d_rope),
            "w_uk": (r_kv, H, d_nope), "w_uv": (r_kv, H, d_v), "w_o": (H * d_v, D),
        }
        for name, shape in shapes.items():
            value = torch.ones(shape) if name.startswith("g_") else torch.randn(shape) * shape[0] ** -0.5
            self.register_parameter(name, nn.Parameter(value))

    def _weights(self, wide: torch.dtype) -> dict[str, Tensor]:
        return {name: p.to(wide) for name, p in self.named_parameters()}

    def _query(self, x: Tensor, pos: Tensor, w: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        D, H, dn, dr, dv, rk, rq = self.sizes
        low = rms(x @ w["w_dq"], w["g_q"])
        q = (low @ w["w_uq"].reshape(rq, H * (dn + dr))).reshape(x.shape[0], x.shape[1], H, dn + dr)
        return q[..., :dn].transpose(1, 2), turn(q[..., dn:], pos, self.w_uq.dtype).transpose(1, 2)

    def _memory(self, x: Tensor, pos: Tensor, w: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        kr = turn((x @ w["w_kr"]).unsqueeze(2), pos, self.w_kr.dtype).squeeze(2)
        return rms(x @ w["w_dkv"], w["g_kv"]), kr

    def forward(self, x: Tensor, pos: Tensor) -> Tensor:
        D, H, dn, dr, dv, rk, rq = self.sizes
        B, T, _ = x.shape
        wide = _wide(x.dtype)
        w = self._weights(wide)
        xw = x.to(wide)
        qn, qr = self._query(xw, pos, w)
        c, kr = self._memory(xw, pos, w)
        k = c.unsqueeze(1) @ w["w_uk"].transpose(0, 1)  # (B, H, T, dn)
        v = c.unsqueeze(1) @ w["w_uv"].transpose(0, 1)
        q = torch.cat((qn, qr), dim=-1)
        k = torch.cat((k, kr.unsqueeze(1).expand(B, H, T, dr)), dim=-1)
        s = (q / math.sqrt(dn + dr)) @ k.transpose(-1, -2)
        i = torch.arange(T, device=x.device)
        s = torch.where(i[:, None] >= i, s, torch.full_like(s, -math.inf))
        o = torch.softmax(s, -1) @ v
        return (o.transpose(1, 2).reshape(B, T, H * dv) @ w["w_o"]).to(x.dtype)

    def step(self, x_t: Tensor, pos: Tensor, cache: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        D, H, dn, dr, dv, rk, rq = self.sizes
        B = x_t.shape[0]
        wide = _wide(x_t.dtype)
        w = self._weights(wide)
        xw = x_t.to(wide)
        qn, qr = self._query(xw, pos, w)  # (B, H, 1, .)
        c, kr = (t.to(x_t.dtype) for t in self._memory(xw, pos, w))
        olds = [cache["c"]] if "c" in cache else []
        oldr = [cache["kr"]] if "kr" in cache else []
        new = {"c": torch.cat(olds + [c], 1), "kr": torch.cat(oldr + [kr], 1)}
        lat = new["c"].to(wide)
        keys = torch.cat((lat, new["kr"].to(wide)), dim=-1)  # (B, t, rk + dr)
        ql = (qn.transpose(0, 1).reshape(H, B, dn) @ w["w_uk"].permute(1, 2, 0)).transpose(0, 1)  # (B, H, rk)
        q = torch.cat((ql, qr[:, :, 0]), dim=-1)
        p = torch.softmax(q @ keys.transpose(1, 2) / math.sqrt(dn + dr), dim=-1)  # (B, H, t)
        back = ((p @ lat).transpose(0, 1) @ w["w_uv"].transpose(0, 1)).transpose(0, 1)  # (B, H, dv)
        return (back.reshape(B, 1, H * dv) @ w["w_o"]).to(x_t.dtype), new
