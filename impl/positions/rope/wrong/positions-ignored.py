"""Counts 0, 1, 2, … itself.
不用 positions，自己从 0 数起。

symptom: Prefill is right, decoded tokens all stand at 0.
症状：prefill 对，解码的 token 都在 0。

cards: kv-21
rung: solved
"""
import torch


def apply_rope(x, positions, base=10000.0, layout="interleaved"):
    B, H, T, d = x.shape
    wide = torch.promote_types(x.dtype, torch.float32)
    speed = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    positions = torch.arange(T, device=x.device).expand(B, T)
    angle = positions[:, None, :, None].to(wide) * speed
    cos, sin = angle.cos(), angle.sin()
    y = x.to(wide)
    if layout == "interleaved":
        a, b = y[..., 0::2], y[..., 1::2]
        out = torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)
    else:
        a, b = y.chunk(2, -1)
        out = torch.cat((a * cos - b * sin, a * sin + b * cos), -1)
    return out.to(x.dtype)
