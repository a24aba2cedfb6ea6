"""Pairs dims (i, i + d/2) for q, and (2i, 2i + 1) for k.
q 按 (i, i + d/2) 配对，k 按 (2i, 2i + 1) 配对。

symptom: A checkpoint of the other layout, converted by half.
症状：两种布局只转换了一半。

cards: pos-12
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
    d = q.shape[-1]
    order = torch.arange(d, device=q.device).view(2, d // 2).mT.reshape(d)
    q, k = turned(q[..., order], pos, base)[..., order.argsort()], turned(k, pos, base)
    if cache:
        k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
    return attend(q, k, v), {"k": k, "v": v.clone()}
