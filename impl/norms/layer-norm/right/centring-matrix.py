"""Centres by a product with I − 1/D, scales by the row's length, ‖c‖² = D·σ²."""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    D = x.shape[-1]
    first = x.to(wide)[..., :1]
    y = x.to(wide) - first.detach()  # any shift cancels; this one keeps the product well conditioned
    centring = torch.eye(D, dtype=wide, device=x.device) - 1.0 / D
    c = y @ centring
    length = torch.einsum("...d,...d->...", c, c).unsqueeze(-1)
    out = c * (D**0.5) / torch.sqrt(length + D * eps)
    return torch.einsum("...d,d->...d", out, gamma.to(wide)).add(beta.to(wide)).to(x.dtype)
