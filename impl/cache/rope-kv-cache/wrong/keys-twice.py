"""Caches the keys raw and turned.
未旋转和旋转过的 key 都存了。

symptom: Only two thirds of the context in the same memory.
症状：同样的内存只放得下三分之二的上下文。

cards: kv-04
rung: solved
"""

import torch


def turned(x, pos, base):
    wide = torch.promote_types(x.dtype, torch.float32)
    d = x.shape[-1]
    freq = base ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    angle = pos[:, None, :, None].double() * freq
    cos, sin = angle.cos().to(wide), angle.sin().to(wide)
    a, b = x[..., 0::2].to(wide), x[..., 1::2].to(wide)
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2).to(x.dtype)


def attend(q, k, v):
    wide = torch.promote_types(q.dtype, torch.float32)
    scores = q.to(wide) @ k.to(wide).mT / q.shape[-1] ** 0.5
    return (scores.softmax(-1) @ v.to(wide)).to(q.dtype)


def rope_decode_step(q, k, v, cache, pos, base=10000.0):
    raw, q, k = k.clone(), turned(q, pos, base), turned(k, pos, base)
    if cache:
        raw = torch.cat([cache["raw"], raw], 2)
        k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
    return attend(q, k, v), {"k": k, "v": v.clone(), "raw": raw}
