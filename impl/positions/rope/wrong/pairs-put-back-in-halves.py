"""Takes interleaved pairs apart and puts them back as two halves.
按奇偶拆开，却按前后两半拼回。

symptom: q·k is still right when both are turned alike; everything else that reads the vector is not.
症状：q、k 都这样转时点积仍对，别处再读这个向量就错了。

cards: pos-13
rung: solved
"""
import torch


def apply_rope(x, positions, base=10000.0, layout="interleaved"):
    B, H, T, d = x.shape
    wide = torch.promote_types(x.dtype, torch.float32)
    speed = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    positions = positions.expand(B, T)
    angle = positions[:, None, :, None].to(wide) * speed
    cos, sin = angle.cos(), angle.sin()
    y = x.to(wide)
    if layout == "interleaved":
        a, b = y[..., 0::2], y[..., 1::2]
        out = torch.cat((a * cos - b * sin, a * sin + b * cos), -1)
    else:
        a, b = y.chunk(2, -1)
        out = torch.cat((a * cos - b * sin, a * sin + b * cos), -1)
    return out.to(x.dtype)
