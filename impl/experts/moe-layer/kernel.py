"""A sparse mixture-of-experts layer on a GPU: one grouped matrix product for all experts, however unevenly they are chosen.

The N·k choices are sorted by expert. Then one launch multiplies every group of rows by its own expert's matrix: a table, made on the
device, says for each tile of rows where it begins, where its expert ends, and which expert that is. Rows are read from where they
lie (token = slot // k) and written to where they belong, so nothing is permuted in memory. The same product serves three times:
- x·w1 with relu, rows taken from the tokens; hidden·w2, rows put back to their slots; then the gates weigh k rows a token;
- backward the gradients of rows with w transposed, to and fro exchanged. The gradients of w1 and w2 have a kernel of their own: a
  program for each tile of each expert's matrix walks over that expert's rows. No atomics anywhere; an expert without rows gets 0.
Decisions:
- routing (x·wg, softmax, topk, a sort of N·k small numbers) and the shared expert are torch's: nothing is left to gain there;
- the host never reads how many rows an expert has: min(N·k, N·k // block + E) programs are enough for any choice;
- sums are float32 (float64 for float64); float32 is multiplied as float32, not as tf32.

Bytes: w1 and w2 of the experts chosen, once for each tile of rows, 2·D·F·(N·k/block + experts in use) elements, and about
N·k·(2·D + 2·F). With few tokens the weights are all that counts; block is as large as an expert's share of the rows.
Operations: 4·N·k·D·F, not E/k times that; backward 8·N·k·D·F.
Not in it: the gates inside the second product, weights in 8 bits, experts on several GPUs.

Gale et al. 2022, MegaBlocks, arXiv 2211.15841; Shazeer et al. 2017, arXiv 1701.06538; DeepSeekMoE, arXiv 2401.06066, eq. 9.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

INTERPRETED = triton.knobs.runtime.interpret


def moe_forward(
    x: Tensor, wg: Tensor, w1: Tensor, w2: Tensor, k: int, shared: tuple[Tensor, Tensor] | None = None
) -> Tensor:
    (N, D), E = x.shape, wg.shape[1]
    gates, idx = (x @ wg).softmax(dim=-1).topk(k, dim=-1)  # (N, k), (N, k)
    sorted_experts, order = idx.flatten().sort(stable=True)  # (N·k,), (N·k,): slots, those of expert 0 first
    begins = torch.searchsorted(sorted_experts, torch.arange(E + 1, device=x.device))  # (E + 1,)
    in_order = torch.arange(N * k, device=x.device)  # (N·k,)

    hidden = GroupedProduct.apply(x, w1, order, k, in_order, begins, True)  # (N·k, F), sorted by expert
    y = GroupedProduct.apply(hidden, w2, in_order, 1, order, begins, False)  # (N·k, D), slot by slot
    out = (gates[..., None] * y.view(N, k, D)).sum(dim=1)  # (N, D)
    if shared is not None:
        out = out + (x @ shared[0]).relu() @ shared[1]  # (N, D)
    return out


class GroupedProduct(torch.autograd.Function):
    """out[target[p]] = a[slots[p] // fan] @ w[e] for the rows p of expert e, begins[e] … begins[e + 1] − 1."""

    @staticmethod
    def forward(
        ctx: Any, a: Tensor, w: Tensor, slots: Tensor, fan: int, target: Tensor, begins: Tensor, relu: bool
    ) -> Tensor:
        out = grouped_rows(a, w, slots, fan, target, begins, relu)  # (M, F)
        ctx.save_for_backward(a, w, slots, target, begins, *([out] if relu else []))
        ctx.fan = fan
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, dout: Tensor) -> tuple[Tensor | None, ...]:
        a, w, slots, target, begins, *active = ctx.saved_tensors
        if active:
            dout = dout * (active[0] > 0)  # (M, F)
        da = grouped_rows(dout, w.mT, target, 1, slots, begins, False)  # (M, K), slot by slot
        da = da.view(a.shape[0], ctx.fan, a.shape[1]).sum(dim=1)  # (M / fan, K)
        return da, grouped_weights(a, dout, w, slots, ctx.fan, target, begins), None, None, None, None, None


def choices(M: int, E: int, dtype: torch.dtype) -> dict[str, Any]:
    """Return tiles of about an expert's share of the rows; small ones for the interpreter, so that there are several."""
    rows = 16 if INTERPRETED else min(64, max(16, triton.next_power_of_2(M // E)))
    sides = 4 if INTERPRETED else 64 if dtype.itemsize == 2 else 32
    wide = tl.float64 if dtype == torch.float64 else tl.float32
    return {"BLOCK_M": rows, "BLOCK_K": sides, "BLOCK_F": sides, "WIDE": wide, "num_warps": 4}


def grouped_rows(a: Tensor, w: Tensor, slots: Tensor, fan: int, target: Tensor, begins: Tensor, relu: bool) -> Tensor:
    (E, K, F), M = w.shape, slots.shape[0]
    constants = choices(M, E, a.dtype)
    block = constants["BLOCK_M"]
    tiles = (begins.diff() + block - 1) // block  # (E,)
    behind = tiles.cumsum(dim=0)  # (E,): how many tiles there are up to the end of each expert
    number = torch.arange(min(M, M // block + E), device=a.device)  # (n,)
    e = torch.searchsorted(behind, number, right=True).clamp(max=E - 1)  # (n,)
    first = begins[e] + (number - behind[e] + tiles[e]) * block  # (n,): behind the end for a tile too many
    table = torch.stack([first, begins[e + 1], e])  # (3, n)
    out = torch.empty(M, F, dtype=a.dtype, device=a.device)
    grid = (number.shape[0], triton.cdiv(F, constants["BLOCK_F"]))
    sizes = (fan, number.shape[0], K, F)
    with torch.cuda.device_of(a):
        rows_kernel[grid](a, w, out, slots, target, table, *a.stride(), *w.stride(), *sizes, RELU=relu, **constants)
    return out


def grouped_weights(
    a: Tensor, dout: Tensor, w: Tensor, slots: Tensor, fan: int, target: Tensor, begins: Tensor
) -> Tensor:
    E, K, F = w.shape
    constants = choices(slots.shape[0], E, a.dtype)
    dw = torch.empty(E, K, F, dtype=w.dtype, device=w.device)
    grid = (triton.cdiv(K, constants["BLOCK_K"]), triton.cdiv(F, constants["BLOCK_F"]), E)
    with torch.cuda.device_of(a):
        weights_kernel[grid](a, dout, dw, slots, target, begins, *a.stride(), *dout.stride(), fan, K, F, **constants)
    return dw


@triton.jit
def rows_kernel(
    a_ptr, w_ptr, out_ptr, slots_ptr, target_ptr, table_ptr, a_m, a_k, w_e, w_k, w_f, fan, tiles, K, F,
    RELU: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_F: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    entry = table_ptr + tl.program_id(0)
    first, end, e = tl.load(entry), tl.load(entry + tiles), tl.load(entry + 2 * tiles)  # 64 bits each
    if first >= end:
        return
    rows, inner = first + tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_K)
    columns = tl.program_id(1) * BLOCK_F + tl.arange(0, BLOCK_F)
    source = tl.load(slots_ptr + rows, mask=rows < end, other=0) // fan  # (m,)
    a_tile = a_ptr + source[:, None] * a_m + inner[None, :] * a_k
    w_tile = w_ptr + e * w_e + inner[:, None] * w_k + columns[None, :] * w_f
    acc = tl.full([BLOCK_M, BLOCK_F], 0.0, WIDE)
    for done in range(0, K, BLOCK_K):
        a = tl.load(a_tile, mask=(rows < end)[:, None] & (done + inner < K)[None, :], other=0.0)  # (m, k)
        w = tl.load(w_tile, mask=(done + inner < K)[:, None] & (columns < F)[None, :], other=0.0)  # (k, f)
        acc += tl.dot(a, w, input_precision="ieee", out_dtype=WIDE)
        a_tile += BLOCK_K * a_k
        w_tile += BLOCK_K * w_k
    if RELU:
        acc = tl.maximum(acc, 0.0)
    target = tl.load(target_ptr + rows, mask=rows < end, other=0)  # (m,)
    mask = (rows < end)[:, None] & (columns < F)[None, :]  # (m, f)
    tl.store(out_ptr + target[:, None] * F + columns[None, :], acc, mask=mask)


@triton.jit
def weights_kernel(
    a_ptr, dout_ptr, dw_ptr, slots_ptr, target_ptr, begins_ptr, a_m, a_k, dout_m, dout_f, fan, K, F,
    BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_F: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    e = tl.program_id(2).to(tl.int64)
    begin, end = tl.load(begins_ptr + e), tl.load(begins_ptr + e + 1)
    inner = tl.program_id(0) * BLOCK_K + tl.arange(0, BLOCK_K)
    columns = tl.program_id(1) * BLOCK_F + tl.arange(0, BLOCK_F)
    acc = tl.full([BLOCK_K, BLOCK_F], 0.0, WIDE)
    for first in range(begin, end, BLOCK_M):
        rows = first + tl.arange(0, BLOCK_M)
        source = tl.load(slots_ptr + rows, mask=rows < end, other=0) // fan  # (m,)
        target = tl.load(target_ptr + rows, mask=rows < end, other=0)  # (m,)
        a_mask, dout_mask = (rows < end)[:, None] & (inner < K)[None, :], (rows < end)[:, None] & (columns < F)[None, :]
        a = tl.load(a_ptr + source[:, None] * a_m + inner[None, :] * a_k, mask=a_mask, other=0.0)  # (m, k)
        dout_tile = dout_ptr + target[:, None] * dout_m + columns[None, :] * dout_f
        dout = tl.load(dout_tile, mask=dout_mask, other=0.0)  # (m, f)
        acc += tl.dot(tl.trans(a), dout, input_precision="ieee", out_dtype=WIDE)
    mask = (inner < K)[:, None] & (columns < F)[None, :]  # (k, f)
    tl.store(dw_ptr + e * K * F + inner[:, None] * F + columns[None, :], acc, mask=mask)
