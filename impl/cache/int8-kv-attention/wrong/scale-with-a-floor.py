"""Clamps max|x| at 10⁻⁵ before the scale is taken.
算 scale 之前把 max|x| 截断到至少 10⁻⁵。

symptom: Tokens of tiny numbers keep few codes, or none.
症状：数值很小的 token 只剩几个编码，甚至全是 0。

cards: prec-11
rung: solved
"""

import math

import torch
from torch import Tensor

Cache = dict[str, Tensor]
_CHUNK = 256


def _wide(x: Tensor) -> Tensor:
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _encode(x: Tensor) -> tuple[Tensor, Tensor]:
    x = _wide(x)
    scale = (x.abs().amax(dim=-1).clamp(min=1e-5) / 127).to(torch.float32)
    scale = torch.where(scale > 0, scale, torch.ones_like(scale))
    codes = torch.round(x / scale.to(x.dtype).unsqueeze(-1)).clamp(-127, 127)
    return codes.to(torch.int8), scale


@torch.no_grad()
def append_kv(cache: Cache, k: Tensor, v: Tensor) -> Cache:
    k_codes, k_scale = _encode(k)
    v_codes, v_scale = _encode(v)
    new = {"k": k_codes, "v": v_codes, "k_scale": k_scale, "v_scale": v_scale}
    if not cache:
        return new
    return {name: torch.cat([cache[name], x], dim=2) for name, x in new.items()}


@torch.no_grad()
def attend(q: Tensor, cache: Cache, lengths: Tensor) -> Tensor:
    B, H, d = q.shape
    if not cache or lengths.numel() == 0:
        return torch.zeros((B, H, d), dtype=q.dtype, device=q.device)
    x = _wide(q)
    dtype, device = x.dtype, x.device
    k_all, v_all = cache["k"], cache["v"]
    k_scale, v_scale = cache["k_scale"], cache["v_scale"]
    G, t = k_all.shape[1], k_all.shape[2]
    R = H // G
    x = x.reshape(B, G, R, d) / math.sqrt(d)
    stop = min(t, int(lengths.max()))
    m = torch.full((B, G, R, 1), float("-inf"), dtype=dtype, device=device)
    l = torch.zeros((B, G, R, 1), dtype=dtype, device=device)
    acc = torch.zeros((B, G, R, d), dtype=dtype, device=device)
    for s in range(0, stop, _CHUNK):
        e = min(s + _CHUNK, stop)
        live = torch.arange(s, e, device=device) < lengths.view(B, 1)
        live = live.view(B, 1, e - s)
        # what stands behind a length may be NaN: replaced before it is used
        ks = k_scale[:, :, s:e].to(dtype).masked_fill(~live, 0.0)
        vs = v_scale[:, :, s:e].to(dtype).masked_fill(~live, 0.0)
        k = k_all[:, :, s:e].to(dtype) * ks.unsqueeze(-1)
        v = v_all[:, :, s:e].to(dtype) * vs.unsqueeze(-1)
        score = torch.matmul(x, k.transpose(-1, -2))
        score = score.masked_fill(~live.unsqueeze(2), float("-inf"))
        m_new = torch.maximum(m, score.amax(dim=-1, keepdim=True))
        safe = torch.where(m_new == float("-inf"), torch.zeros_like(m_new), m_new)
        alpha = torch.exp(m - safe)
        p = torch.exp(score - safe)
        l = l * alpha + p.sum(dim=-1, keepdim=True)
        acc = acc * alpha + torch.matmul(p, v)
        m = m_new
    out = torch.where(l > 0, acc / torch.where(l > 0, l, torch.ones_like(l)), torch.zeros_like(acc))
    return out.reshape(B, H, d).to(q.dtype)
