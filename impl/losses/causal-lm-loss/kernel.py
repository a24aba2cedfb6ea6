"""Next-token cross-entropy that never stores its logits twice: the only other tensor of their size is the gradient.

Written out in torch, 16-bit logits become a float32 copy, a log-softmax and a gradient of it, each of B·T·V numbers.
Here a program walks along the logits of one position and keeps two numbers, the largest logit so far and the sum of
exp(logit − largest); lse = log Σ exp(logits) is all that stays. The backward pass reads the logits again and writes
softmax − one-hot from them. Decisions:
- the caller's logits survive: they are read twice and never written, shared with autograd and not copied, whatever their
  strides. Kernels that overwrite them with their gradient in the forward pass save B·T·V numbers more and break later uses: a metric, a
  second loss, a second backward;
- positions that are no targets, the last one among them, are not read at all; their gradient is written as 0;
- a target and a weight for each position are made by torch: they are V times smaller than the logits;
- the mean and the upstream gradient stay on the device: nothing waits for the host;
- sums are float32, of float64 logits float64; 16 bits are widened in registers.

Bytes: with M targets, forward M·V·(bytes of a logit), backward (M + B·T)·V. Torch's own steps move about five times that
in 16 bits. Operations: one exp and about 4 others for each logit, forward and backward.
Not in it: the product with the output layer, for which see linear-cross-entropy.

Hsu et al. 2024 (Liger Kernel), arXiv 2410.10989; z-loss: Chowdhery et al. 2022, arXiv 2204.02311, section 5.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

INTERPRETED = triton.knobs.runtime.interpret


def lm_loss(logits: Tensor, ids: Tensor, loss_mask: Tensor | None = None, z_coef: float = 0.0) -> Tensor:
    wide = torch.promote_types(logits.dtype, torch.float32)
    target, weight = ids.new_zeros(ids.shape), ids.new_zeros(ids.shape, dtype=wide)  # (B, T) each, 0 in the last column
    target[:, :-1] = ids[:, 1:]
    weight[:, :-1] = 1.0 if loss_mask is None else loss_mask[:, 1:]
    loss: Tensor = CrossEntropy.apply(logits, target, weight, z_coef)
    return loss


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, target: Tensor, weight: Tensor, z_coef: float) -> Tensor:
        B, T, V = logits.shape
        lse, losses = torch.empty(2, B, T, dtype=weight.dtype, device=logits.device)  # (B, T) each
        with torch.cuda.device_of(logits):
            forward_kernel[(B * T,)](
                logits, target, weight, lse, losses, logits.stride(), T, V, z_coef, tile(V), num_warps=8
            )
        count = weight.sum().clamp(min=1.0)
        ctx.save_for_backward(logits, target, weight, lse, count)
        ctx.z_coef = z_coef
        return (losses.sum() / count).to(logits.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None, None]:
        logits, target, weight, lse, count = ctx.saved_tensors
        B, T, V = logits.shape
        share = weight * (upstream / count)  # (B, T)
        slope = torch.empty((B, T, V), dtype=logits.dtype, device=logits.device)  # (B, T, V), the only one of its size
        with torch.cuda.device_of(logits):
            backward_kernel[(B * T,)](
                logits, target, share, lse, slope, logits.stride(), T, V, ctx.z_coef, tile(V), num_warps=8
            )
        return slope, None, None, None


def tile(V: int) -> int:
    """Return the number of logits in one step along a row."""
    width = triton.next_power_of_2(V)
    return max(width // 2, 4) if INTERPRETED else min(width, 4096)


@triton.jit
def forward_kernel(logits, target, weight, lse, losses, strides, T, V, z_coef: tl.float64, BLOCK: tl.constexpr):
    WIDE: tl.constexpr = lse.dtype.element_ty
    row = tl.program_id(0).to(tl.int64)
    z = logits + row // T * strides[0] + row % T * strides[1]
    share = tl.load(weight + row)
    read = tl.where(share != 0.0, V, 0)  # how many logits are looked at
    peak = tl.full((), float("-inf"), WIDE)  # the largest logit so far
    total = tl.zeros((), WIDE)  # Σ exp(logit − peak)
    for first in range(0, V, BLOCK):
        column = first + tl.arange(0, BLOCK).to(tl.int64)  # (BLOCK,)
        part = tl.load(z + column * strides[2], column < read, other=float("-inf")).to(WIDE)  # (BLOCK,)
        higher = tl.maximum(peak, tl.max(part, 0))
        base = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(peak - base) + tl.sum(tl.exp(part - base), 0)
        peak = higher

    norm = tl.where(read > 0, peak + tl.log(tl.where(total == 0.0, 1.0, total)), 0.0)
    right = tl.load(z + tl.load(target + row) * strides[2], read > 0, other=0.0).to(WIDE)
    loss = norm - right + tl.full((), z_coef, WIDE) * norm * norm
    tl.store(lse + row, norm)
    tl.store(losses + row, share * loss)


@triton.jit
def backward_kernel(logits, target, share, lse, slope, strides, T, V, z_coef: tl.float64, BLOCK: tl.constexpr):
    WIDE: tl.constexpr = lse.dtype.element_ty
    row = tl.program_id(0).to(tl.int64)
    z = logits + row // T * strides[0] + row % T * strides[1]
    scale, norm, right = tl.load(share + row), tl.load(lse + row), tl.load(target + row)
    read = tl.where(scale != 0.0, V, 0)  # how many logits are looked at
    steeper = 1.0 + 2.0 * tl.full((), z_coef, WIDE) * norm  # the z-loss pulls along the softmax too
    for first in range(0, V, BLOCK):
        column = first + tl.arange(0, BLOCK).to(tl.int64)  # (BLOCK,)
        part = tl.load(z + column * strides[2], column < read, other=float("-inf")).to(WIDE)  # (BLOCK,)
        g = scale * (tl.exp(part - norm) * steeper - tl.where(column == right, 1.0, 0.0))
        tl.store(slope + row * V + column, tl.where(column < read, g, 0.0).to(slope.dtype.element_ty), column < V)
