"""Merging attention over parts of the keys: outputs weighted by how much softmax mass each part holds.

A part gives its normalised output and the log of its sum of exponentials. e^lse is that sum, so the whole is the mean of the outputs
weighted by e^lse, and its own lse the log of the sum of sums: the same form again, so merging is associative. Decisions:
- the largest lse of each query is subtracted before the exponential, as softmax does;
- a part that saw no key has lse −inf, weight 0; where all are empty the result is 0 and −inf;
- weights are computed in float32 or wider; out has the dtype of outs, lse that of lses.

Dao et al. 2023, Flash-Decoding; Milakov & Gimelshein 2018, arXiv 1805.02867, §3.1.
"""

from __future__ import annotations

import torch
from torch import Tensor


def merge_partials(outs: Tensor, lses: Tensor) -> tuple[Tensor, Tensor]:
    wide = torch.promote_types(torch.promote_types(outs.dtype, lses.dtype), torch.float32)
    partial = lses.to(wide)  # (N, ...)
    top = partial.detach().amax(dim=0)  # (...)
    top = top.masked_fill(top == float("-inf"), 0.0)
    weights = torch.exp(partial - top)  # (N, ...): an empty part gets 0
    total = weights.sum(dim=0)  # (...)
    empty = total == 0
    total = total.masked_fill(empty, 1.0)
    out = (weights.unsqueeze(-1) * outs.to(wide)).sum(dim=0) / total.unsqueeze(-1)  # (..., d)
    lse = (top + torch.log(total)).masked_fill(empty, float("-inf"))  # (...)
    return out.to(outs.dtype), lse.to(lses.dtype)
