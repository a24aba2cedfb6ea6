"""The mask that hides padding, and how masks are combined.

A batch of sequences of unequal lengths is padded to one length S; no query may attend to the padding.
Decisions:
- True = may attend, so masks are combined by a logical AND: each one can only take keys away;
- the padding mask is (B, 1, 1, S): it belongs to the keys and is the same for every head and every query;
- padding is on the right; a length of 0 leaves a sequence without any key, which attention has to handle.

Vaswani et al. 2017, arXiv 1706.03762, §3.2.3, masks out illegal connections before the softmax.
"""

from __future__ import annotations

import torch
from torch import Tensor


def padding_mask(lengths: Tensor, S: int) -> Tensor:
    key = torch.arange(S, device=lengths.device)  # (S,), positions of the keys
    valid = key < lengths[:, None]  # (B, S)
    return valid[:, None, None, :]  # (B, 1, 1, S)


def combine_masks(*masks: Tensor) -> Tensor:
    combined = masks[0].clone()
    for mask in masks[1:]:
        combined = combined & mask  # broadcasts
    return combined
