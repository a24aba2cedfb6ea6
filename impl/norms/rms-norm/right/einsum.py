"""The sum of squares as a product of the row with itself."""

import torch


def rms_norm(x, weight, eps=1e-6):
    if torch.finfo(x.dtype).bits == 16:
        return rms_norm(x.float(), weight.float(), eps).to(x.dtype)
    squares = torch.einsum("...d,...d->...", x, x) / x.shape[-1]
    return torch.einsum("...d,...,d->...d", x, (squares + eps) ** -0.5, weight)
