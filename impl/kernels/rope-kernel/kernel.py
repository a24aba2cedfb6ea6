"""Rotary position embedding of a few tokens in each program, all heads of them.

- The rows of cos and sin are loaded once and serve all heads of the tokens: they turn alike.
- Pair i is the components i and i + d/2: two loads of neighbouring numbers each, both before the first store.
- x is read by its strides: (B, T, H, d) seen as (B, H, T, d), as projections give it, is not copied.
- About 1,024 pairs a tile: eight a thread on four warps. Tokens and pairs are masked.

Bytes: 2·B·H·T·d·itemsize, and B·T·d·itemsize of tables. Operations: 3·B·H·T·d: memory decides.
Not in it: a split over heads, for batches of few tokens, and q and k in one launch.

Su et al. 2021, arXiv 2104.09864.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _rope(
    x_ptr, cos_ptr, sin_ptr, y_ptr, H, T, pairs, x_batch, x_head, x_token, x_part,
    TOKENS: tl.constexpr, PAIRS: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)[:, None].to(tl.int64)  # (TOKENS, 1)
    batch = tl.program_id(1).to(tl.int64)
    pair = tl.arange(0, PAIRS)[None, :]  # (1, PAIRS)
    mask = (token < T) & (pair < pairs)  # (TOKENS, PAIRS)
    cos = tl.load(cos_ptr + token * pairs + pair, mask=mask, other=0.0).to(tl.float32)  # (TOKENS, PAIRS)
    sin = tl.load(sin_ptr + token * pairs + pair, mask=mask, other=0.0).to(tl.float32)

    for head in range(H):
        place = x_ptr + batch * x_batch + head * x_head + token * x_token + pair * x_part  # (TOKENS, PAIRS)
        a = tl.load(place, mask=mask, other=0.0).to(tl.float32)
        b = tl.load(place + pairs * x_part, mask=mask, other=0.0).to(tl.float32)
        result = y_ptr + ((batch * H + head) * T + token) * 2 * pairs + pair  # (TOKENS, PAIRS)
        tl.store(result, (a * cos - b * sin).to(y_ptr.dtype.element_ty), mask=mask)
        tl.store(result + pairs, (a * sin + b * cos).to(y_ptr.dtype.element_ty), mask=mask)


def rope(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    B, H, T, d = x.shape
    y = torch.empty(B, H, T, d, dtype=x.dtype, device=x.device)
    PAIRS = triton.next_power_of_2(d // 2)
    TOKENS = min(max(1024 // PAIRS, 1), triton.next_power_of_2(T))
    grid = (triton.cdiv(T, TOKENS), B)
    _rope[grid](x, cos.contiguous(), sin.contiguous(), y, H, T, d // 2, *x.stride(), TOKENS=TOKENS, PAIRS=PAIRS)
    return y
