"""AdamW in one launch: parameter, gradient and both moments are read once and written once.

Written out in torch the step is a dozen operations, each of which reads and writes tensors of the parameter's size; here all of them run
while a number is in registers. Decisions:
- moments are updated in place, the new parameter is a new tensor, as in the reference;
- values that depend only on the step are computed by the host in double: 1 − lr·λ, lr/(1 − β1^t) and 1/(1 − β2^t). It comes
  as arguments that no compiled kernel depends on: a schedule of learning rates compiles nothing anew;
- moments are float32 at least, and the gradient is widened before it is squared;
- nothing is differentiated through it: neither the parameter nor the moments hang on a graph.

Bytes: for n numbers, n·(2·bytes of p + bytes of g + 4·bytes of a moment): 28·n in float32, 22·n where p and g are bfloat16.
Operations: about 14·n with one root and one division each: it waits for memory.
Not in it: many parameters in one launch (for small ones the launch is what costs), stochastic rounding of 16-bit p.

Loshchilov and Hutter 2017, arXiv 1711.05101.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

INTERPRETED = triton.knobs.runtime.interpret


@torch.no_grad()
def adamw_step(
    p: Tensor,
    g: Tensor,
    state: dict[str, Any],
    lr: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> Tensor:
    wide = torch.promote_types(p.dtype, torch.float32)
    p, g = p.contiguous(), g.contiguous()
    if not state:
        state.update(t=0, m=torch.zeros_like(p, dtype=wide), v=torch.zeros_like(p, dtype=wide))
    state.update(t=state["t"] + 1, m=state["m"].to(wide).contiguous(), v=state["v"].to(wide).contiguous())

    (beta1, beta2), t, new = betas, state["t"], torch.empty_like(p)
    BLOCK = tile(p.numel())
    with torch.cuda.device_of(p):
        adamw_kernel[(triton.cdiv(p.numel(), BLOCK),)](
            p, g, state["m"], state["v"], new, p.numel(),
            beta1, 1 - beta1, beta2, 1 - beta2, lr / (1 - beta1**t), 1 / (1 - beta2**t), eps, 1 - lr * weight_decay,
            BLOCK, num_warps=4,
        )  # fmt: skip
    return new


def tile(n: int) -> int:
    """Return the size of one program: eight numbers for each thread of 4 warps."""
    return max(triton.next_power_of_2(n) // 2, 1) if INTERPRETED else 1024


@triton.jit
def adamw_kernel(
    p, g, m, v, new, n,
    beta1: tl.float64, rest1: tl.float64, beta2: tl.float64, rest2: tl.float64,
    rate: tl.float64, correction: tl.float64, eps: tl.float64, decay: tl.float64, BLOCK: tl.constexpr,
):  # fmt: skip
    WIDE: tl.constexpr = m.dtype.element_ty
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    inside = at < n
    slope = tl.load(g + at, inside, other=0.0).to(WIDE)
    first = tl.load(m + at, inside, other=0.0) * tl.full((), beta1, WIDE) + slope * tl.full((), rest1, WIDE)
    second = tl.load(v + at, inside, other=0.0) * tl.full((), beta2, WIDE) + slope * slope * tl.full((), rest2, WIDE)
    tl.store(m + at, first, inside)
    tl.store(v + at, second, inside)

    root = tl.sqrt(second * tl.full((), correction, WIDE)) + tl.full((), eps, WIDE)
    kept = tl.load(p + at, inside, other=0.0).to(WIDE) * tl.full((), decay, WIDE)
    tl.store(new + at, (kept - tl.full((), rate, WIDE) * first / root).to(new.dtype.element_ty), inside)
