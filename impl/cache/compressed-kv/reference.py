"""A cache with one entry for every m tokens: each channel pools the block by its own softmax.

Decisions:
- gates are per channel, and a bias per place in the block tells first from last;
- overlap: two sets of channels, one for the tokens as members of their own block, one as neighbours of the next;
- block 0 has no block before it: −∞ there, so that its weights still sum to 1;
- a block is visible from its last token on: earlier, it would contain tokens that the query must not see;
- a ragged tail is no block yet.

Yuan et al. 2025 (NSA), arXiv 2502.11089, section 3.3; DeepSeek-V4's compressed attention.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def compress_kv(kv: Tensor, gate: Tensor, bias: Tensor, m: int, overlap: bool) -> Tensor:
    wide = torch.promote_types(kv.dtype, torch.float32)
    n, half = kv.shape[1] // m, kv.shape[2] // 2
    values = kv[:, : n * m].to(wide).unflatten(1, (n, m))  # (B, n, m, D)
    scores = gate[:, : n * m].to(wide).unflatten(1, (n, m)) + bias.to(wide)  # (B, n, m, D)

    if overlap:
        one_later = (0, 0, 0, 0, 1, 0)
        values_before = F.pad(values[..., :half], one_later)[:, :n]  # (B, n, m, D/2)
        scores_before = F.pad(scores[..., :half], one_later, value=-torch.inf)[:, :n]  # (B, n, m, D/2)
        values = torch.cat((values_before, values[..., half:]), dim=2)  # (B, n, 2m, D/2)
        scores = torch.cat((scores_before, scores[..., half:]), dim=2)  # (B, n, 2m, D/2)
    return (scores.softmax(dim=2) * values).sum(dim=2).to(kv.dtype)  # (B, n, D) or (B, n, D/2)


def block_visible(T: int, n: int, m: int, start: int = 0) -> Tensor:
    finished = (torch.arange(start, start + T) + 1) // m  # (T,) blocks
    return torch.arange(n) < finished[:, None]  # (T, n)
