"""Walks along the dimension once with a running maximum and a running sum, then normalises entry by entry."""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.element_size() == 2 else x
    entries = wide.unbind(dim)
    peak = torch.full_like(entries[0], float("-inf")).detach()
    total = torch.zeros_like(entries[0])
    for entry in entries:
        new_peak = torch.maximum(peak, entry.detach())
        safe = new_peak.masked_fill(new_peak == float("-inf"), 0.0)
        total = total * torch.exp(peak - safe) + torch.exp(entry - safe)
        peak = new_peak
    peak = peak.masked_fill(peak == float("-inf"), 0.0)
    total = total + (total == 0).to(total.dtype)
    return torch.stack([torch.exp(entry - peak) / total for entry in entries], dim).to(x.dtype)
