"""Compares the place inside a block with the length.
拿块内的下标和长度比较。

symptom: From the second block on, slots behind the length are attended to.
症状：从第二块起，长度之后的槽位也被看到。

cards: mask-06
rung: solved
"""
import math

import torch
from torch import Tensor

Cache = dict[str, Tensor]
CHUNK = 256


def _quantize(x: Tensor) -> tuple[Tensor, Tensor]:
    x = x.detach().double()
    amax = x.abs().amax(dim=-1)
    scale = (amax / 127).to(torch.float32).clamp_min(torch.finfo(torch.float32).tiny)
    codes = torch.round(x / scale.to(x.dtype).unsqueeze(-1))
    return codes.clamp(-127, 127).to(torch.int8), scale


@torch.no_grad()
def append_kv(cache: Cache, k: Tensor, v: Tensor) -> Cache:
    kc, ks = _quantize(k)
    vc, vs = _quantize(v)
    new = {"k": kc, "v": vc, "k_scale": ks, "v_scale": vs}
    out = dict(cache)
    for name, x in new.items():
        out[name] = torch.cat([cache[name], x], dim=2) if name in cache else x.contiguous()
    return out


@torch.no_grad()
def attend(q: Tensor, cache: Cache, lengths: Tensor) -> Tensor:
    B, H, d = q.shape
    if not cache:
        return torch.zeros(q.shape, dtype=q.dtype, device=q.device)
    G, t = cache["k"].shape[1:3]
    dt = torch.promote_types(q.dtype, torch.float32)
    qq = q.to(dt).reshape(B, G, H // G, d) / math.sqrt(d)
    m = torch.full((B, G, H // G, 1), -math.inf, dtype=dt, device=q.device)
    s = torch.zeros_like(m)
    acc = torch.zeros((B, G, H // G, d), dtype=dt, device=q.device)
    lengths = lengths.to(q.device)
    last = min(t, int(lengths.max())) if B else 0
    for a in range(0, last, CHUNK):
        e = min(a + CHUNK, last)
        ok = torch.arange(e - a, device=q.device) < lengths[:, None]
        ok = ok[:, None, :]
        ks = cache["k_scale"][:, :, a:e].to(dt).masked_fill(~ok, 0.0)
        vs = cache["v_scale"][:, :, a:e].to(dt).masked_fill(~ok, 0.0)
        k = cache["k"][:, :, a:e].to(dt) * ks[..., None]
        scores = (qq @ k.transpose(-1, -2)).masked_fill(~ok[:, :, None, :], -math.inf)
        new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
        ref = new.masked_fill(new == -math.inf, 0.0)
        p = torch.exp(scores - ref)
        c = torch.exp(m - ref)
        v = cache["v"][:, :, a:e].to(dt) * vs[..., None]
        s = s * c + p.sum(dim=-1, keepdim=True)
        acc = acc * c + p @ v
        m = new
    out = acc / s.masked_fill(s == 0, 1.0)
    return out.reshape(B, H, d).to(q.dtype)
