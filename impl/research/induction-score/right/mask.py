"""A mask over the whole map and an einsum."""

import torch


def induction_score(attn, period):
    wide = torch.float64 if attn.dtype == torch.float64 else torch.float32
    T = attn.shape[-1]
    place = torch.arange(T, device=attn.device)
    back, has_copy = place[:, None] - place, place[:, None] >= period
    chosen = ((back == period - 1) & has_copy).to(wide)
    return torch.einsum("lhij,ij->lh", attn.to(wide), chosen / chosen.sum()).to(attn.dtype)
