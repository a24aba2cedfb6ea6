"""Block-sparse attention by selection: each query reads its own block of keys and the few past blocks that score highest.

A block's score is q · (mean of its keys). With n = T/block blocks this ranks T·n pairs instead of T² ones, and the attention
itself reads k_blocks · block keys a query, whatever T is. Decisions:
- the own block is always read, up to the query itself, and counts as one of the k_blocks;
- every head and every query chooses for itself, among blocks that are wholly in its past;
- one softmax runs over all keys that were read; the choice has no gradient, the attention over it has;
- one comparison hides all keys after the query: in its own block, in surplus blocks and in the padding.

Lu et al. 2025 (MoBA), arXiv 2502.13189; Yuan et al. 2025 (NSA), arXiv 2502.11089.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def topk_block_attention(q: Tensor, k: Tensor, v: Tensor, block: int, k_blocks: int) -> Tensor:
    T, d = q.shape[-2:]
    wide = torch.promote_types(q.dtype, torch.float32)
    n = math.ceil(T / block)
    queries = q.to(wide)
    keys, values = (
        F.pad(x.to(wide), (0, 0, 0, n * block - T)).unflatten(2, (n, block)) for x in (k, v)
    )  # (B, H, n, b, d)
    place = torch.arange(T, device=q.device)[:, None]  # (T, 1)

    promise = queries.detach() @ keys.detach().mean(dim=3).transpose(-2, -1)  # (B, H, T, n)
    own, blocks = place // block, torch.arange(n, device=q.device)
    promise = promise.masked_fill(blocks > own, -math.inf).masked_fill(blocks == own, math.inf)
    chosen = promise.topk(min(k_blocks, n), dim=-1).indices  # (B, H, T, m)

    at = (chosen[..., None] * block + torch.arange(block, device=q.device)).flatten(3)  # (B, H, T, m·b)
    scores = (taken(keys, chosen) @ queries[..., None]).squeeze(-1) / math.sqrt(d)  # (B, H, T, m·b)
    weights = torch.softmax(scores.masked_fill(at > place, -math.inf), dim=-1)
    return (weights[..., None, :] @ taken(values, chosen)).squeeze(-2).to(q.dtype)


def taken(blocks: Tensor, chosen: Tensor) -> Tensor:
    """The chosen blocks of each query, one behind the other: (B, H, T, m·b, d)."""
    _, _, _, b, d = blocks.shape
    index = chosen.flatten(2)[..., None].expand(-1, -1, -1, b * d)  # (B, H, T·m, b·d)
    found = blocks.flatten(3).gather(2, index)
    return found.reshape(*chosen.shape[:3], -1, d)
