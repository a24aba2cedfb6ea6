"""Counts the earlier equal choices in a triangle of comparisons."""

import math


def dispatch_with_capacity(idx, E, capacity_factor):
    flat = idx.reshape(-1)
    same = flat[:, None] == flat[None, :]
    place = same.tril(-1).sum(dim=1).view(idx.shape)
    full = place >= math.ceil(capacity_factor * flat.numel() / E)
    return place.masked_fill(full, -1), full.logical_not()
