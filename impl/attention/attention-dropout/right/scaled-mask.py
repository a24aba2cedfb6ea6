"""Growth inside the mask, torch.where for what is dropped."""
import torch


def attention_dropout(weights, p, training, generator=None):
    if p == 0 or not training:
        return weights.clone()
    uniform = torch.rand(weights.shape, dtype=torch.float64, device=weights.device, generator=generator)
    grown = weights * (1.0 / (1.0 - p) if p < 1 else 0.0)
    return torch.where(uniform < p, torch.zeros((), dtype=weights.dtype, device=weights.device), grown)
