"""A stable sort by expert: the place is the distance to where the expert's run begins."""

import torch


def dispatch_with_capacity(idx, E, capacity_factor):
    flat = idx.flatten()
    capacity = -int(-(4 * capacity_factor) * flat.shape[0] // (4 * E))
    order = torch.argsort(flat, stable=True)
    experts = torch.arange(E, device=idx.device)
    starts = torch.searchsorted(flat[order], experts)
    rank = torch.arange(flat.shape[0], device=idx.device) - starts[flat[order]]
    place = torch.zeros_like(flat).scatter(0, order, rank).reshape(idx.shape)
    keep = place < capacity
    return torch.where(keep, place, torch.full_like(place, -1)), keep
