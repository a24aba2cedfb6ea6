"""The online softmax: maximum and denominator of a row in one pass, chunk by chunk.

Safe softmax needs the maximum m before it can sum l = Σ exp(x − m). Here both are updated per chunk: when a chunk raises m,
the sum so far is multiplied by exp(m_old − m_new), as if it had been computed with the new maximum from the start.
Decisions:
- chunks are read once, in order, and may have any widths; only m and l are kept between chunks;
- a row that has seen nothing but −inf has m = −inf, and shifts by 0: −inf − (−inf) would be NaN;
- both results keep their graph: l depends on m, and m on the largest entry;
- 16 bits are computed in float32.

Milakov & Gimelshein 2018, arXiv 1805.02867.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor


def online_softmax_stats(chunks: Iterable[Tensor]) -> tuple[Tensor, Tensor]:
    m = l = None
    for chunk in chunks:
        x = chunk.to(torch.promote_types(chunk.dtype, torch.float32))  # (..., c)
        top = x.amax(dim=-1)  # (...)
        new_m = top if m is None else torch.maximum(m, top)
        shift = new_m.masked_fill(new_m == -math.inf, 0.0)
        total = torch.exp(x - shift[..., None]).sum(dim=-1)  # (...)
        l = total if l is None else l * torch.exp(m - shift) + total
        m = new_m
    return m.to(chunk.dtype), l.to(chunk.dtype)
