"""SwiGLU: the steps between its matrix products, fused into one kernel forward and one backward.

The products belong to cuBLAS. Between them torch would write σ(g), g·σ(g) and their product with u, each of the size of
the hidden layer; here h = g·σ(g)·u is computed in registers. Decisions:
- g and u are kept for the backward pass, h is not: it is recomputed by one multiplication;
- the backward kernel reads g, u and dh and writes dg, du and h, which takes the place of dh:
  du = dh·g·s  and  dg = dh·u·s·(1 + g·(1 − s)),  with s = σ(g) = 1/(1 + exp(−g)), which is right in both tails;
- float32 inside the kernel, but 16-bit products hand over g, u and h in 16 bits, as training does it: the reference, which rounds once at
  the end, is slightly more accurate (ROUNDS_INSIDE). In float16 a hidden value beyond 65 504
  is infinite here.

Bytes: of the kernel, with N tokens, forward 3·N·F·(bytes of x), backward 6·N·F; the products come on top.
Operations: 6·N·F forward and 12·N·F backward, with one exp each; the products 6·N·D·F forward and 12·N·D·F backward.
Not in it: fusing with the products. A kernel that computes g and u in one pass over x saves 4·N·F·(bytes of x) more, but its matrix
products must be as fast as cuBLAS.

Shazeer 2020, arXiv 2002.05202; Hsu et al. 2024 (Liger Kernel), arXiv 2410.10989.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

INTERPRETED = triton.knobs.runtime.interpret
ROUNDS_INSIDE = True


def swiglu_ffn(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
    y: Tensor = SwiGLU.apply(x, w_gate, w_up, w_down)
    return y


def swiglu_hidden(D: int, multiple_of: int = 256) -> int:
    multiples = -(-8 * D // (3 * multiple_of))  # ⌈8D / 3m⌉
    return multiples * multiple_of


class SwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
        tokens = x.reshape(-1, x.shape[-1])  # (N, D)
        gate, up = tokens @ w_gate, tokens @ w_up  # (N, F) each
        hidden = torch.empty_like(gate)  # (N, F)
        launch(forward_kernel, gate, up, hidden)
        ctx.save_for_backward(tokens, w_gate, w_up, w_down, gate, up)
        return (hidden @ w_down).view(x.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        tokens, w_gate, w_up, w_down, gate, up = ctx.saved_tensors
        of_tokens = dy.reshape(tokens.shape)  # (N, D)
        hidden = of_tokens @ w_down.T  # (N, F), dh, which backward_kernel replaces by h
        dgate, dup = torch.empty_like(gate), torch.empty_like(up)  # (N, F) each
        launch(backward_kernel, gate, up, hidden, dgate, dup)
        dx = torch.addmm(dgate @ w_gate.T, dup, w_up.T)  # (N, D)
        return dx.view(dy.shape), tokens.T @ dgate, tokens.T @ dup, hidden.T @ of_tokens


def launch(kernel: Any, gate: Tensor, *others: Tensor) -> None:
    n = gate.numel()
    BLOCK = tile(n)
    wide = tl.float64 if gate.dtype == torch.float64 else tl.float32
    with torch.cuda.device_of(gate):
        kernel[(triton.cdiv(n, BLOCK),)](gate, *others, n, wide, BLOCK, num_warps=4)


def tile(n: int) -> int:
    """Return the size of one program: eight numbers for each thread of 4 warps."""
    return max(triton.next_power_of_2(n) // 2, 1) if INTERPRETED else 1024


@triton.jit
def forward_kernel(gate, up, hidden, n, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    g, u = tl.load(gate + at, at < n).to(WIDE), tl.load(up + at, at < n).to(WIDE)
    h = g / (1.0 + tl.exp(-g)) * u
    tl.store(hidden + at, h.to(hidden.dtype.element_ty), at < n)


@triton.jit
def backward_kernel(gate, up, hidden, dgate, dup, n, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    g, u = tl.load(gate + at, at < n).to(WIDE), tl.load(up + at, at < n).to(WIDE)
    dh = tl.load(hidden + at, at < n).to(WIDE)
    s = 1.0 / (1.0 + tl.exp(-g))
    tl.store(dgate + at, (dh * u * s * (1.0 + g * (1.0 - s))).to(dgate.dtype.element_ty), at < n)
    tl.store(dup + at, (dh * g * s).to(dup.dtype.element_ty), at < n)
    tl.store(hidden + at, (g * s * u).to(hidden.dtype.element_ty), at < n)
