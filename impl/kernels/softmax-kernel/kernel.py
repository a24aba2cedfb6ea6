"""Softmax over the last dimension, one row a program, in blocks.

- The first walk keeps two numbers: the largest entry so far and the sum of exp(entry − largest). When a larger entry comes, the
  sum is multiplied by exp(old largest − new largest). The second walk writes exp(entry − largest) / sum.
- Lanes behind the end are loaded as −inf: they cannot be the maximum, and add exp(−inf) = 0.
- While the maximum is −inf, 0 is subtracted instead, since −inf − (−inf) is NaN; a sum of 0 is replaced by 1.
- A row that fits one block is in the cache when it is read again: memory is read once. 4,096 entries on eight warps are
  sixteen a thread.

Bytes: 2·rows·n·itemsize from memory, 3 with the second reading, which the cache serves while a row fits it.
Operations: 2 exp, 1 division and about 5 others an element: memory decides.
Not in it: many short rows in one program, which would fill the warps better where n is below a hundred.

Milakov and Gimelshein 2018, arXiv 1805.02867.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _softmax(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * n  # where the row begins
    lane = tl.arange(0, BLOCK)  # (BLOCK,)

    peak = tl.full((), float("-inf"), tl.float32)  # the largest entry so far
    base = tl.full((), 0.0, tl.float32)  # the same, or 0 while it is −inf
    total = tl.full((), 0.0, tl.float32)  # Σ exp(entry − base)
    for first in range(0, n, BLOCK):
        at = first + lane  # (BLOCK,)
        z = tl.load(x_ptr + start + at, mask=at < n, other=float("-inf")).to(tl.float32)
        higher = tl.maximum(peak, tl.max(z, 0))
        base = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(peak - base) + tl.sum(tl.exp(z - base), 0)
        peak = higher
    total = tl.where(total == 0.0, 1.0, total)

    for first in range(0, n, BLOCK):
        at = first + lane  # (BLOCK,)
        z = tl.load(x_ptr + start + at, mask=at < n, other=float("-inf")).to(tl.float32)
        y = tl.exp(z - base) / total  # (BLOCK,)
        tl.store(y_ptr + start + at, y.to(y_ptr.dtype.element_ty), mask=at < n)


def softmax(x: Tensor) -> Tensor:
    x = x.contiguous()
    y = torch.empty_like(x)
    n = x.shape[-1]
    rows = x.numel() // n
    _softmax[(rows,)](x, y, n, BLOCK=min(triton.next_power_of_2(n), 4096), num_warps=8)
    return y
