"""Linear cross-entropy in chunks of rows: gradients are made in the forward pass, while a chunk's logits are at hand.

Recomputing the logits in the backward pass costs a fourth product of N·V·D; here there are three, and what is kept for
the backward pass is their result. For each chunk of c rows: its logits in float32; lse, loss and softmax − one-hot of
each row; this slope times w gives the chunk's dx, its transpose times x is added to dw. Decisions:
- two kernels: a product with float32 sums, used for all three, and one that walks along the rows of a chunk;
- logits are float32 even for 16-bit x and w, which a product of torch would round; the slope has 16 bits again, for the
  tensor cores. Its entries are in −1 … 1: the mean and the upstream gradient multiply in the backward pass, so that a
  loss scale still saves small gradients in float16;
- dw is added up in float32, in memory that belongs to the program that adds: no atomics;
- gradients that are not required are not computed, under no_grad none;
- rows to be ignored look up class 0 and count nothing; the number of rows that count stays on the device.

Bytes: kept are N·D·(bytes of x) + 4·V·D for the gradients, alive besides is one chunk, c·V·(4 + bytes of x). Moved, with
every c rows: w twice, dw there and back, and 8·c·V + 6·c·V·(bytes of x) for logits and slope.
Operations: 2·N·V·D for the loss, 6·N·V·D with both gradients, which is what decides where c is some hundreds or more.
Not in it: skipping classes whose softmax is below rounding (Wijmans), descriptors and warp groups of newer GPUs.

Hsu et al. 2024 (Liger Kernel), arXiv 2410.10989; Wijmans et al. 2024, arXiv 2411.09009.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

INTERPRETED = triton.knobs.runtime.interpret


def linear_cross_entropy(x: Tensor, w: Tensor, target: Tensor, chunk: int = 1024, ignore_index: int = -100) -> Tensor:
    loss: Tensor = Chunked.apply(x, w, target, chunk, ignore_index)
    return loss


class Chunked(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, target: Tensor, chunk: int, ignore_index: int) -> Tensor:
        (N, D), V, like = x.shape, len(w), {"device": x.device}
        wide, of_x, of_w = torch.promote_types(x.dtype, torch.float32), *ctx.needs_input_grad[:2]
        counts = target != ignore_index  # (N,)
        index, count = target.masked_fill(~counts, 0), counts.sum().clamp(min=1)  # (N,) and ()
        losses = torch.empty(N, dtype=wide, **like)  # (N,)
        logits = torch.empty(min(chunk, N), V, dtype=wide, **like)  # (c, V), used for every chunk
        slope = torch.empty_like(logits, dtype=x.dtype) if of_x or of_w else logits  # (c, V)
        dx = torch.empty(N, D, dtype=x.dtype, **like) if of_x else None  # (N, D), not yet divided by count
        dw = torch.zeros(V, D, dtype=wide, **like) if of_w else None  # (V, D)
        for first in range(0, N, chunk):
            rows = slice(first, first + chunk)
            c = len(x[rows])
            product(x[rows], w.T, logits[:c])
            with torch.cuda.device_of(x):
                rows_kernel[(c,)](
                    logits, index[rows], counts[rows], losses[rows], slope, V, of_x or of_w, columns(V), num_warps=8
                )
            if dx is not None:
                product(slope[:c], w, dx[rows])
            if dw is not None:
                product(slope[:c].T, x[rows], dw, add=True)
        ctx.save_for_backward(dx, dw, count)
        ctx.dtype = w.dtype
        return (losses.sum() / count).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        dx, dw, count = ctx.saved_tensors
        share = upstream.to(torch.promote_types(upstream.dtype, torch.float32)) / count  # ()
        of_x = None if dx is None else (dx * share).to(dx.dtype)  # (N, D)
        of_w = None if dw is None else (dw * share).to(ctx.dtype)  # (V, D)
        return of_x, of_w, None, None, None


def product(a: Tensor, b: Tensor, out: Tensor, add: bool = False) -> None:
    """Write a (M, K) times b (K, N) into `out` (M, N), or add it."""
    (M, K), N = a.shape, b.shape[1]
    BM, BN, BK, warps = tile(a.dtype)
    with torch.cuda.device_of(a):
        product_kernel[(triton.cdiv(M, BM) * triton.cdiv(N, BN),)](
            a, b, out, M, N, K, a.stride(), b.stride(), add, BM, BN, BK, num_warps=warps, num_stages=3
        )


def tile(dtype: torch.dtype) -> tuple[int, int, int, int]:
    """Return tile sizes and warps of a product. Without tensor cores (float32) a larger tile would spill registers."""
    if INTERPRETED:
        return 32, 32, 64, 4
    return (128, 128, 64, 8) if dtype.itemsize == 2 else (64, 64, 16, 8)


def columns(V: int) -> int:
    """Return the number of logits in one step along a row."""
    width = triton.next_power_of_2(V)
    return max(width // 2, 4) if INTERPRETED else min(width, 4096)


@triton.jit
def product_kernel(
    a, b, out, M, N, K, of_a, of_b, ADD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    WIDE: tl.constexpr = tl.float64 if a.dtype.element_ty == tl.float64 else tl.float32
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    band = tl.program_id(0) // (
        8 * across
    )  # eight rows of tiles at a time, column by column: they share b in the cache
    height = tl.minimum(down - band * 8, 8)
    inside_band = tl.program_id(0) % (8 * across)
    m = ((band * 8 + inside_band % height) * BM + tl.arange(0, BM)).to(tl.int64)  # (BM,)
    n = (inside_band // height * BN + tl.arange(0, BN)).to(tl.int64)  # (BN,)
    total = tl.zeros((BM, BN), WIDE)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK).to(tl.int64)  # (BK,)
        at_a = a + m[:, None] * of_a[0] + k[None, :] * of_a[1]  # (BM, BK)
        at_b = b + k[:, None] * of_b[0] + n[None, :] * of_b[1]  # (BK, BN)
        part = tl.load(at_a, (m < M)[:, None] & (k < K)[None, :], other=0.0)
        other = tl.load(at_b, (k < K)[:, None] & (n < N)[None, :], other=0.0)
        total = tl.dot(part, other, total, input_precision="ieee", out_dtype=WIDE)
    at = out + m[:, None] * N + n[None, :]  # (BM, BN)
    inside = (m < M)[:, None] & (n < N)[None, :]
    if ADD:
        total += tl.load(at, inside, other=0.0)
    tl.store(at, total.to(out.dtype.element_ty), inside)


@triton.jit
def rows_kernel(logits, target, counts, losses, slope, V, SLOPE: tl.constexpr, BLOCK: tl.constexpr):
    WIDE: tl.constexpr = logits.dtype.element_ty
    row = tl.program_id(0).to(tl.int64)
    right, share = tl.load(target + row), tl.load(counts + row).to(WIDE)  # 1, or 0 for a row to be ignored
    peak = tl.full((), float("-inf"), WIDE)  # the largest logit so far
    total = tl.zeros((), WIDE)  # Σ exp(logit − peak)
    for first in range(0, V, BLOCK):
        column = first + tl.arange(0, BLOCK).to(tl.int64)  # (BLOCK,)
        z = tl.load(logits + row * V + column, column < V, other=float("-inf"))  # (BLOCK,)
        higher = tl.maximum(peak, tl.max(z, 0))
        total = total * tl.exp(peak - higher) + tl.sum(tl.exp(z - higher), 0)
        peak = higher
    lse = peak + tl.log(total)
    loss = lse - tl.load(logits + row * V + right)
    tl.store(losses + row, tl.where(share > 0.0, loss, 0.0))  # a row to be ignored may hold NaN

    if SLOPE:
        for first in range(0, V, BLOCK):
            column = first + tl.arange(0, BLOCK).to(tl.int64)  # (BLOCK,)
            z = tl.load(logits + row * V + column, column < V, other=float("-inf"))  # (BLOCK,)
            g = share * (tl.exp(z - lse) - tl.where(column == right, 1.0, 0.0))
            tl.store(slope + row * V + column, g.to(slope.dtype.element_ty), column < V)
