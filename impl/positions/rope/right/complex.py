"""Takes pairs for complex numbers and multiplies by e^{iθ}."""
import torch


def apply_rope(x, positions, base=10000.0, layout="interleaved"):
    B, H, T, d = x.shape
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    freqs = torch.pow(torch.tensor(base, dtype=wide, device=x.device), -torch.arange(0, d, 2, dtype=wide, device=x.device) / d)
    theta = positions.to(wide).reshape(-1, 1, T, 1) * freqs
    turn = torch.polar(torch.ones_like(theta), theta)
    if layout == "interleaved":
        z = torch.view_as_complex(x.to(wide).reshape(B, H, T, d // 2, 2).contiguous())
        return torch.view_as_real(z * turn).reshape(B, H, T, d).to(x.dtype)
    re, im = x.to(wide).chunk(2, dim=-1)
    z = torch.complex(re.contiguous(), im.contiguous()) * turn
    return torch.cat([z.real, z.imag], -1).to(x.dtype)
