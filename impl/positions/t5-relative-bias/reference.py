"""T5's relative position buckets: near offsets exactly, far ones on a logarithmic scale.

Decisions:
- an offset is key − query, so past keys have negative offsets;
- the bidirectional encoder splits its buckets by side, later keys in the upper half; the causal decoder spends all of
  them on the past, later keys count as distance 0;
- of the N buckets of a side the lower half is exact, the upper half logarithmic up to max_distance, the last one open.

Raffel et al. 2019, arXiv 1910.10683, §2.1.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def t5_bucket(relative_position: Tensor, bidirectional: bool, num_buckets: int = 32, max_distance: int = 128) -> Tensor:
    if bidirectional:
        N = num_buckets // 2
        side = N * (relative_position > 0).long()  # later keys have the upper half
        n = relative_position.abs()
    else:
        N = num_buckets
        side = torch.zeros_like(relative_position)
        n = (-relative_position).clamp(min=0)

    e = N // 2
    ratio = n.clamp(min=e).double() / e  # at least 1: the logarithm is only used from e on
    term = (N - e) * ratio.log() / math.log(max_distance / e)
    far = (e + term.floor().long()).clamp(max=N - 1)
    return side + torch.where(n < e, n, far)
