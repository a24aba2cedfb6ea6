"""The loss of an output layer without its logits: N × V numbers never exist together, forward or backward.

With V = 131,072 classes the logits are the largest tensor of a training step, and autograd keeps them for the backward
pass. Here the rows are walked over in chunks, and only one number a row is kept, lse = log Σ exp(logits); the backward pass
computes each chunk's logits again and turns them into softmax − one-hot. Decisions:
- the mean is over all rows that count, so chunks add up sums, and divide once;
- ignored rows look up class 0, which always exists, and are multiplied by 0; if no row counts, loss and gradients are 0;
- 16 bits are computed in float32, and dw is summed in float32: many chunks add to it.

Hsu et al. 2024 (Liger Kernel), arXiv 2410.10989; Wijmans et al. 2024, arXiv 2411.09009.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def linear_cross_entropy(x: Tensor, w: Tensor, target: Tensor, chunk: int = 1024, ignore_index: int = -100) -> Tensor:
    loss: Tensor = Chunked.apply(x, w, target, chunk, ignore_index)
    return loss


class Chunked(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, target: Tensor, chunk: int, ignore_index: int) -> Tensor:
        wide = torch.promote_types(x.dtype, torch.float32)
        counts = target != ignore_index  # (N,)
        index = target.masked_fill(~counts, 0)[:, None]  # (N, 1)
        total, lses = torch.zeros((), dtype=wide, device=x.device), []
        for rows in chunks(len(x), chunk):
            logits = x[rows].to(wide) @ w.to(wide).T  # (c, V)
            lses.append(logits.logsumexp(dim=-1))  # (c,)
            losses = lses[-1] - logits.gather(1, index[rows]).squeeze(1)
            total = total + losses.masked_fill(~counts[rows], 0.0).sum()
        ctx.save_for_backward(x, w, index, counts, torch.cat(lses))
        ctx.chunk = chunk
        return (total / counts.sum().clamp(min=1)).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        x, w, index, counts, lse = ctx.saved_tensors
        share = counts * upstream.to(lse.dtype) / counts.sum().clamp(min=1)  # (N,)
        dx, dw = torch.zeros_like(x, dtype=lse.dtype), torch.zeros_like(w, dtype=lse.dtype)
        for rows in chunks(len(x), ctx.chunk):
            xs, ws = x[rows].to(lse.dtype), w.to(lse.dtype)
            slope = torch.exp(xs @ ws.T - lse[rows, None])  # (c, V): softmax
            slope.scatter_add_(1, index[rows], torch.full_like(slope[:, :1], -1.0))
            slope *= share[rows, None]
            dx[rows] = slope @ ws
            dw += slope.T @ xs
        return dx.to(x.dtype), dw.to(w.dtype), None, None, None


def chunks(count: int, size: int) -> list[slice]:
    return [slice(start, start + size) for start in range(0, count, size)]
