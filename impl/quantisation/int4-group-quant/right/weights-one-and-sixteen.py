"""Nibbles by remainder, a byte as their product with (1, 16); scale and its inverse from max/7."""

import torch


def quantize_int4(w, group):
    if w.shape[1] % 2 or w.shape[1] % group:
        raise ValueError(f"{tuple(w.shape)} does not fit groups of {group}")
    x = w.to(torch.promote_types(w.dtype, torch.float32))
    blocks = x.unflatten(1, (-1, group))
    largest = torch.linalg.vector_norm(blocks, ord=float("inf"), dim=-1, keepdim=True)
    inverse = torch.where(largest > 0, 7.0 / largest, torch.zeros_like(largest))
    q = torch.floor(blocks * inverse + 0.5).clamp(-7, 7).flatten(1).long()
    nibbles = torch.remainder(q, 16).unflatten(1, (-1, 2))
    packed = nibbles[..., 0] + 16 * nibbles[..., 1]
    return packed.to(torch.uint8), (largest / 7).squeeze(-1)
