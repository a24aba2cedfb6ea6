"""Caches raw keys beside the positions that they came with, and turns all of them anew as complex numbers."""
import torch


def spin(x, pos, base):
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    d = x.shape[-1]
    rate = torch.pow(base, torch.arange(d // 2, device=x.device, dtype=torch.float64) * (-2.0 / d))
    phase = pos[:, None, :, None] * rate
    z = torch.view_as_complex(x.to(wide).unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(z * torch.polar(torch.ones_like(phase), phase).to(z.dtype)).flatten(3)


def rope_decode_step(q, k, v, cache, pos, base=10000.0):
    if not cache:
        cache = {"kv": torch.stack([k[:, :, :0], v[:, :, :0]]), "pos": pos[:, :0]}
    kv = torch.cat([cache["kv"], torch.stack([k, v])], dim=3)
    where = torch.cat([cache["pos"], pos], dim=1)
    scores = torch.einsum("bhqd,bhkd->bhqk", spin(q, pos, base), spin(kv[0], where, base)) * q.shape[-1] ** -0.5
    weights = torch.exp(scores - scores.logsumexp(-1, keepdim=True))
    out = torch.einsum("bhqk,bhkd->bhqd", weights, kv[1].to(weights.dtype))
    return out.to(q.dtype), {"kv": kv, "pos": where}
