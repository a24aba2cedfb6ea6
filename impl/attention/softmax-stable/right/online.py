"""Blocks with running maximum and sum, then one normalisation."""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.element_size() == 2 else x
    blocks = wide.split(64, dim)
    peak = torch.full_like(blocks[0].narrow(dim, 0, 1), float("-inf")).detach()
    total = torch.zeros_like(peak)
    for block in blocks:
        new_peak = torch.maximum(peak, block.detach().amax(dim, keepdim=True))
        safe = new_peak.masked_fill(new_peak == float("-inf"), 0.0)
        total = total * torch.exp(peak - safe) + torch.exp(block - safe).sum(dim, keepdim=True)
        peak = new_peak
    peak = peak.masked_fill(peak == float("-inf"), 0.0)
    total = total + (total == 0).to(total.dtype)
    return torch.cat([torch.exp(block - peak) / total for block in blocks], dim).to(x.dtype)
