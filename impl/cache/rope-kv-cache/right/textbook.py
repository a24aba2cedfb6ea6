"""The textbook form: float32 angles, out[..., ::2] and out[..., 1::2] written, keys cached turned."""
import math

import torch


def rotate(x, pos, base):
    d = x.shape[-1]
    inv_freq = 1.0 / (base ** (torch.arange(0, d, 2, device=x.device).float() / d))
    theta = pos[:, None, :, None].float() * inv_freq
    cos, sin = torch.cos(theta), torch.sin(theta)
    out = torch.empty_like(x)
    out[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., ::2] * sin + x[..., 1::2] * cos
    return out


def rope_decode_step(q, k, v, cache, pos, base=10000.0):
    q, k = rotate(q, pos, base), rotate(k, pos, base)
    past_k, past_v = cache.get("k", k[:, :, :0]), cache.get("v", v[:, :, :0])
    k, v = torch.cat([past_k, k], dim=2), torch.cat([past_v, v], dim=2)
    scores = torch.matmul(q.float() if q.dtype.itemsize < 4 else q, k.to(torch.promote_types(k.dtype, torch.float32)).mT)
    probs = torch.softmax(scores / math.sqrt(q.shape[-1]), dim=-1)
    return torch.matmul(probs, v.to(probs.dtype)).to(q.dtype), {"k": k, "v": v}
