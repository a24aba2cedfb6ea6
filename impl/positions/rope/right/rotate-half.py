"""As Hugging Face: x·cos + rotate(x)·sin with doubled tables; 16 bits multiply in 16 bits."""
import torch


def rotate(x, layout):
    if layout == "half":
        a, b = x.chunk(2, -1)
        return torch.cat((-b, a), -1)
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack((-b, a), -1).flatten(-2)


def apply_rope(x, positions, base=10000.0, layout="interleaved"):
    d = x.shape[-1]
    inv_freq = 1.0 / (base ** (torch.arange(0, d, 2, device=x.device).float() / d))
    angles = positions.float()[..., None] * inv_freq
    angles = torch.cat([angles, angles], -1) if layout == "half" else angles.repeat_interleave(2, dim=-1)
    if angles.dim() == 3:
        angles = angles.unsqueeze(1)
    return x * angles.cos().to(x.dtype) + rotate(x, layout) * angles.sin().to(x.dtype)
