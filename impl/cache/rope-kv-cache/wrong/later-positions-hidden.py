"""Hides cached keys at positions behind the query's.
把位置比 query 更靠后的缓存 key 挡住。

symptom: What is in the cache may be seen, wherever it stands.
症状：cache 里的都该看得到，不管位置在哪。

cards: mask-07
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
    q, k = turned(q, pos, base), turned(k, pos, base)
    places = pos
    if cache:
        k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
        places = torch.cat([cache["pos"], pos], 1)
    hidden = (places > pos)[:, None, None]
    wide = torch.promote_types(q.dtype, torch.float32)
    scores = (q.to(wide) @ k.to(wide).mT / q.shape[-1] ** 0.5).masked_fill(hidden, float("-inf"))
    return (scores.softmax(-1) @ v.to(wide)).to(q.dtype), {"k": k, "v": v.clone(), "pos": places.clone()}
